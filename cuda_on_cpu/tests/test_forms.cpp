#include <ostream>
#include <string>

#include <cuda_runtime.h>
#include <gtest/gtest.h>

#include "forms/forms.hpp"

namespace forms {

std::ostream& operator<<(std::ostream& out, const Form& form) {
  return out << form.name;
}

namespace {

class Forms : public testing::TestWithParam<Form> {};

TEST_P(Forms, RunEachLaunchOnce) {
  int devices = 0;
  if (cudaGetDeviceCount(&devices) != cudaSuccess || devices == 0) {
    GTEST_SKIP() << "no GPU answers here";
  }
  EXPECT_EQ(result_of(GetParam()), GetParam().expected);
}

std::string name_of(const testing::TestParamInfo<Form>& info) {
  return info.param.name;
}

INSTANTIATE_TEST_SUITE_P(All, Forms, testing::ValuesIn(all_forms()), name_of);

TEST(Forms, LeaveTextsAlone) {
  EXPECT_EQ(texts(),
            "kernel<<<1, 1>>>(x); // \" __shared__ int y;\"k<<<1, \"1>>>(x)__shared__ )\" '/* <<< "
            "*/");
}

}  // namespace
}  // namespace forms
