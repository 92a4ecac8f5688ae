// One training step of a small U-Net with batch normalization, and ten steps of Adam, by TensorFlow.js on the CPU: figures
// for tests/test_train.c, which stores them. NODE_PATH names a folder with npm's @tensorflow/tfjs 4.22.0:
//   node tests/make_training_figures.mjs
import { createRequire } from 'node:module';

const tf = createRequire(import.meta.url)('@tensorflow/tfjs');
await tf.setBackend('cpu');

// Element i of tensor k: the same in the test.
const number = (k, i) => Math.fround(Math.sin(0.37 * i + 1.3 * k));
const made = (k, count, scale, add = 0) => Float32Array.from({ length: count }, (_, i) => scale * number(k, i) + add);
// From ONNX's order to TensorFlow's.
const image = (k, n, c, h, w) => tf.tensor(made(k, n * c * h * w, 1), [n, c, h, w]).transpose([0, 2, 3, 1]);
const weights = (k, a, b, scale) => tf.tensor(made(k, a * b * 16, scale), [a, b, 4, 4]).transpose([2, 3, 1, 0]);

const x = image(0, 2, 3, 16, 12), target = image(1, 2, 3, 16, 12).mul(0.8);
const names = ['conv1.weight', 'conv1.bias', 'conv2.weight', 'batch_norm1.scale', 'batch_norm1.bias', 'conv_transpose1.weight',
    'conv_transpose1.bias', 'conv_transpose2.weight', 'conv_transpose2.bias'];
const values = [weights(2, 5, 3, 0.2), tf.tensor(made(3, 5, 0.1)), weights(4, 7, 5, 0.2), tf.tensor(made(5, 7, 0.2, 1)),
    tf.tensor(made(6, 7, 0.1)), weights(7, 7, 5, 0.2), tf.tensor(made(8, 5, 0.1)), weights(9, 10, 3, 0.2),
    tf.tensor(made(10, 3, 0.1))].map((value) => tf.variable(value));

const loss = () => tf.tidy(() => {
    const [w1, b1, w2, scale, bias, v1, c1, v2, c2] = values;
    const e1 = tf.conv2d(x, w1, 2, 'same').add(b1);
    const e2 = tf.conv2d(tf.leakyRelu(e1, 0.2), w2, 2, 'same');
    const { mean, variance } = tf.moments(e2, [0, 1, 2]);
    const normal = tf.batchNorm(e2, mean, variance, bias, scale, 1e-5);
    const d2 = tf.conv2dTranspose(tf.relu(normal), v1, [2, 8, 6, 5], 2, 'same').add(c1);
    const d1 = tf.concat([d2, e1], 3);
    const y = tf.tanh(tf.conv2dTranspose(tf.relu(d1), v2, [2, 16, 12, 3], 2, 'same').add(c2));
    return y.sub(target).square().mean();
});

const norm = (tensor) => Math.sqrt(tensor.square().sum().dataSync()[0]);
const { value, grads } = tf.variableGrads(loss, values);
const gradients = values.map((v) => norm(grads[v.name]));
const adam = tf.train.adam(0.01, 0.9, 0.999, 1e-8);
const losses = [];
for (let step = 0; step < 10; step++)
    losses.push(adam.minimize(loss, true, values).dataSync()[0]);
console.log('loss', value.dataSync()[0].toPrecision(8));
names.forEach((name, i) => console.log(name, gradients[i].toPrecision(8), norm(values[i]).toPrecision(8)));
console.log('losses', losses.map((l) => l.toPrecision(8)).join(', '));
