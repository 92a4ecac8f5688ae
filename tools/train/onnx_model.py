"""Runs a generator's .onnx file in PyTorch: this release's, or an earlier one's beside it."""

import onnx
import torch
import torch.nn.functional as F
from onnx import helper, numpy_helper
from torch import nn


class OnnxModel(nn.Module):
    """A model of one input and one output, of the operators that generators have."""

    def __init__(self, path):
        super().__init__()
        self.graph = onnx.load(path).graph
        for weight in self.graph.initializer:
            values = torch.from_numpy(numpy_helper.to_array(weight).copy()).float()
            self.register_buffer(weight.name.replace(".", "/"), values)

    def forward(self, x):
        values = {name.replace("/", "."): value for name, value in self.named_buffers()}
        values[self.graph.input[0].name] = x
        for node in self.graph.node:
            attributes = {a.name: helper.get_attribute_value(a) for a in node.attribute}
            inputs = [values[name] for name in node.input]
            values[node.output[0]] = OPERATORS[node.op_type](inputs, attributes)
        return values[self.graph.output[0].name]


def window(function):
    def convolve(inputs, attributes):
        return function(*inputs, stride=attributes["strides"], padding=attributes["pads"][:2])

    return convolve


OPERATORS = {
    "Cast": lambda inputs, _: inputs[0],  # weights are floats already
    "Conv": window(F.conv2d),
    "ConvTranspose": window(F.conv_transpose2d),
    "Add": lambda inputs, _: inputs[0] + inputs[1],
    "Concat": lambda inputs, attributes: torch.cat(inputs, attributes["axis"]),
    "Relu": lambda inputs, _: F.relu(inputs[0]),
    "LeakyRelu": lambda inputs, attributes: F.leaky_relu(inputs[0], attributes["alpha"]),
    "Tanh": lambda inputs, _: torch.tanh(inputs[0]),
}
