"""Writes a generator as ONNX: batch norms folded into the convolutions, weights as half floats.

A Cast after each converts them to float: half the file size, readable by any runtime.
"""

import argparse

import numpy
import onnx
import torch
from onnx import TensorProto, helper, numpy_helper
from torch import nn

from images import SIZE
from model import SLOPE, Residual, load_generator
from onnx_model import OnnxModel

OPSET, IR_VERSION = 13, 7
LICENCE = "Trained by Tessera's tools/train; its README names the pictures and their licences."


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

    def convolution(self, name, source, conv, norm=None):
        """`conv` and the batch norm after it, if any, as one convolution."""
        transposed = isinstance(conv, nn.ConvTranspose2d)
        weight, bias = fold(conv, norm, channel_axis=1 if transposed else 0)
        inputs = [source, self.weight(f"{name}.weight", weight), self.weight(f"{name}.bias", bias)]
        window = {"kernel_shape": conv.kernel_size, "strides": conv.stride, "pads": conv.padding * 2}
        return self.add("ConvTranspose" if transposed else "Conv", inputs, name, **window)

    def block(self, name, source, block):
        x = self.convolution(name, source, block.conv, block.norm)
        if isinstance(block, Residual):
            x = self.add("Add", [x, source], f"{name}.sum")
        return self.add("LeakyRelu", [x], f"{name}.act", alpha=SLOPE)

    def stage(self, name, source, first, blocks):
        x = self.block(name, source, first)
        for k, block in enumerate(blocks):
            x = self.block(f"{name}.{k}", x, block)
        return x


def fold(conv, norm, channel_axis):
    weight = conv.weight.detach().double().numpy()
    channels = weight.shape[channel_axis]
    bias = conv.bias.detach().double().numpy() if conv.bias is not None else numpy.zeros(channels)
    if norm is not None:
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
    for i, (first, blocks) in enumerate(zip(generator.down, generator.encoder)):
        x = graph.stage(f"down{i}", x, first, blocks)
        skips.append(x)
    x = skips.pop()
    for i, (first, blocks) in enumerate(zip(generator.up, generator.decoder)):
        if i:
            x = graph.add("Concat", [x, skips.pop()], f"up{i}.cat", axis=1)
        x = graph.stage(f"up{i}", x, first, blocks)
    x = graph.add("Concat", [x, "sketch"], "head.cat", axis=1)
    x = graph.convolution("last", graph.block("head", x, generator.head), generator.last)
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
    """Compares the file with the generator on noise."""
    sketch = torch.rand(1, 3, SIZE, SIZE) * 2 - 1
    with torch.no_grad():
        largest = (generator(sketch) - OnnxModel(path)(sketch)).abs().max().item()
    print(f"largest difference from the generator {largest:.5f}, half floats in all weights")
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
