// expect: 0 kernels
constexpr int inputs = 8;
constexpr int hidden = 16;
constexpr int outputs = 3;

// A CPU can do it, too.
void train(int rows, int steps, float rate, const float* x, const float* target, float* w1,
           float* b1, float* w2, float* b2) {
  for (int step = 0; step < steps; ++step) {
    float dw1[inputs * hidden] = {};
    float db1[hidden] = {};
    float dw2[hidden * outputs] = {};
    float db2[outputs] = {};
    for (int i = 0; i < rows; ++i) {
      float h[hidden];
      float dy[outputs];
      for (int j = 0; j < hidden; ++j) {
        float sum = b1[j];
        for (int k = 0; k < inputs; ++k) sum += x[i * inputs + k] * w1[k * hidden + j];
        h[j] = sum > 0 ? sum : 0;
      }
      for (int o = 0; o < outputs; ++o) {
        float sum = b2[o];
        for (int j = 0; j < hidden; ++j) sum += h[j] * w2[j * outputs + o];
        dy[o] = (sum - target[i * outputs + o]) / rows;
        db2[o] += dy[o];
        for (int j = 0; j < hidden; ++j) dw2[j * outputs + o] += h[j] * dy[o];
      }
      for (int j = 0; j < hidden; ++j) {
        float dh = 0;
        for (int o = 0; o < outputs; ++o) dh += dy[o] * w2[j * outputs + o];
        if (h[j] <= 0) dh = 0;
        db1[j] += dh;
        for (int k = 0; k < inputs; ++k) dw1[k * hidden + j] += x[i * inputs + k] * dh;
      }
    }
    for (int j = 0; j < inputs * hidden; ++j) w1[j] -= rate * dw1[j];
    for (int j = 0; j < hidden; ++j) b1[j] -= rate * db1[j];
    for (int j = 0; j < hidden * outputs; ++j) w2[j] -= rate * dw2[j];
    for (int j = 0; j < outputs; ++j) b2[j] -= rate * db2[j];
  }
}
