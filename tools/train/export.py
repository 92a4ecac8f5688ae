"""Writes a generator as ONNX: batch norms folded into the convolutions, weights as half floats.

A Cast after each converts them to float: half the file size, readable by any runtime.
"""

import argparse

import numpy
import onnx
import torch
from onnx import TensorProto, helper, numpy_helper

from images import SIZE
from model import load_generator

OPSET, IR_VERSION = 13, 7
LICENCE = "Trained by Tessera's tools/train on Noto Color Emoji (SIL Open Font License 1.1)."


class Graph:
    """Collects nodes and weights; every node is named after its only output."""

    def __init__(self):
        self.nodes, self.weights = [], []

    def add(self, operator, inputs, output, **attributes):
        self.nodes.append(helper.make_node(operator, inputs, [output], output, **attributes))
        return output

    def weight(self, name, values):
        half = values.astype(numpy.float16)
        if not numpy.isfinite(half).all():
            raise SystemExit(f"{name}: a weight is too large for a half float")
        self.weights.append(numpy_helper.from_array(half, f"{name}.half"))
        return self.add("Cast", [f"{name}.half"], name, to=TensorProto.FLOAT)

    def convolution(self, operator, name, source, conv, norm):
        """`conv` and the batch norm after it, if any, as one convolution."""
        weight, bias = fold(conv, norm, channel_axis=0 if operator == "Conv" else 1)
        inputs = [source, self.weight(f"{name}.weight", weight), self.weight(f"{name}.bias", bias)]
        window = {"kernel_shape": [4, 4], "strides": [2, 2], "pads": [1, 1, 1, 1]}
        return self.add(operator, inputs, name, **window)


def fold(conv, norm, channel_axis):
    weight = conv.weight.detach().double().numpy()
    channels = weight.shape[channel_axis]
    bias = conv.bias.detach().double().numpy() if conv.bias is not None else numpy.zeros(channels)
    if hasattr(norm, "running_mean"):
        gain, shift, mean, variance = (
            t.detach().double().numpy()
            for t in (norm.weight, norm.bias, norm.running_mean, norm.running_var)
        )
        scale = gain / numpy.sqrt(variance + norm.eps)
        bias = shift + (bias - mean) * scale
        weight = weight * numpy.expand_dims(scale, [a for a in range(4) if a != channel_axis])
    return weight, bias


def build(generator):
    """The generator's graph: `sketch` to `picture`, both [1, 3, SIZE, SIZE] from -1 to 1."""
    graph, skips, x = Graph(), [], "sketch"
    for i, (conv, norm) in enumerate(zip(generator.down, generator.down_norm)):
        if i:
            x = graph.add("LeakyRelu", [x], f"down{i}.act", alpha=0.2)
        x = graph.convolution("Conv", f"down{i}", x, conv, norm)
        skips.append(x)
    x = skips.pop()
    for i, (conv, norm) in enumerate(zip(generator.up, generator.up_norm)):
        if i:
            x = graph.add("Concat", [x, skips.pop()], f"up{i}.cat", axis=1)
        x = graph.add("Relu", [x], f"up{i}.act")
        x = graph.convolution("ConvTranspose", f"up{i}", x, conv, norm)
    graph.add("Tanh", [x], "picture")
    return graph


def to_model(graph):
    sketch, picture = (
        helper.make_tensor_value_info(name, TensorProto.FLOAT, [1, 3, SIZE, SIZE])
        for name in ("sketch", "picture")
    )
    whole = helper.make_graph(
        graph.nodes, "sketch2emoji", [sketch], [picture], graph.weights, LICENCE
    )
    model = helper.make_model(
        whole,
        producer_name="tessera tools/train",
        ir_version=IR_VERSION,
        opset_imports=[helper.make_opsetid("", OPSET)],
    )
    onnx.checker.check_model(model, full_check=True)
    return model


def check(generator, path):
    """Compares the file with the generator on noise, if ONNX Runtime is installed."""
    try:
        import onnxruntime
    except ImportError:
        return print("not checked: onnxruntime is not installed")
    sketch = torch.rand(1, 3, SIZE, SIZE) * 2 - 1
    session = onnxruntime.InferenceSession(path, providers=["CPUExecutionProvider"])
    with torch.no_grad():
        difference = generator(sketch).numpy() - session.run(None, {"sketch": sketch.numpy()})[0]
    largest = abs(difference).max()
    print(f"largest difference from PyTorch {largest:.5f}, half floats in all weights")
    if largest > 0.05:
        raise SystemExit(f"{path} does not compute what the generator does")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("generator", help="generator.pt, which train.py wrote")
    parser.add_argument("output", help="the .onnx file")
    options = parser.parse_args()
    generator, _ = load_generator(options.generator)
    onnx.save(to_model(build(generator)), options.output)
    check(generator, options.output)


if __name__ == "__main__":
    main()
