#include <vector>

using Vector = std::vector<double>;

/// Gradients of the loss with respect to the weights, biases and inputs of a layer, from dy, that
/// with respect to its output y = sigmoid(x w + b).
void layer_backward(int rows, int inputs, int outputs, const Vector& x, const Vector& w,
                    const Vector& y, const Vector& dy, Vector& dw, Vector& db, Vector& dx) {
  // Your code.
}
