#include "02_naive_cuda/naive_cuda_executor.hpp"

#include "cuda/check.hpp"

namespace stagewise {

template <typename T>
void NaiveCudaExecutor<T>::copy_in(void* to, const void* host, std::size_t bytes) {
  CUDA_CHECK(cudaMemcpyAsync(to, host, bytes, cudaMemcpyHostToDevice, main_.get()));
  synchronize();  // the caller may reuse `host`
}

template <typename T>
void NaiveCudaExecutor<T>::copy_out(void* host, const void* from, std::size_t bytes) {
  CUDA_CHECK(cudaMemcpyAsync(host, from, bytes, cudaMemcpyDeviceToHost, main_.get()));
  synchronize();
}

template <typename T>
void NaiveCudaExecutor<T>::prepare(const Program& program) {
  for (const Line& line : program.lines) {
    if (const Gather* const op = std::get_if<Gather>(&line.operation)) prepare_gather(*op);
  }
}

template <typename T>
void NaiveCudaExecutor<T>::prepare_gather(const Gather& op) {
  const Shape shape = this->value(op.batch).shape.batched(this->max_rows());
  if (host_batch_.elements() >= shape.elements()) return;
  host_batch_ = Tensor<T>(shape, staging_memory());
  host_labels_ = Tensor<std::int32_t>({this->max_rows()}, staging_memory());
}

//! [gather]
template <typename T>
void NaiveCudaExecutor<T>::run(const Gather& op) {
  // The device is still working on the previous batch while the host gathers this one.
  const auto samples = this->samples(op.batch);
  this->dataset()->gather(samples, host_batch_.data());
  this->dataset()->gather_labels(samples, host_labels_.data());
  copy_in(this->at(op.batch), host_batch_.data(),
          static_cast<std::size_t>(this->elements(op.batch)) * sizeof(T));
  copy_in(this->at(op.batch_labels), host_labels_.data(), samples.size() * sizeof(std::int32_t));
}
//! [gather]

template <typename T>
void NaiveCudaExecutor<T>::run(const Sum& op) {
  T* const sum = this->at(op.sum);
  run(Copy{.x = op.terms.front(), .y = op.sum});
  for (std::size_t i = 1; i < op.terms.size(); ++i) {
    naive_cuda::add(stream(), this->elements(op.sum), sum, this->at(op.terms[i]), sum);
  }
}

template <typename T>
void NaiveCudaExecutor<T>::run(const Mean& op) {
  run(Sum{.terms = op.terms, .sum = op.mean});
  naive_cuda::divide(stream(), this->elements(op.mean), static_cast<T>(op.terms.size()),
                     this->at(op.mean));
}

template <typename T>
void NaiveCudaExecutor<T>::run(const Copy& op) {
  CUDA_CHECK(cudaMemcpyAsync(this->at(op.y), this->at(op.x),
                             static_cast<std::size_t>(this->elements(op.x)) * sizeof(T),
                             cudaMemcpyDeviceToDevice, stream()));
}

template class NaiveCudaExecutor<float>;
template class NaiveCudaExecutor<double>;

}  // namespace stagewise
