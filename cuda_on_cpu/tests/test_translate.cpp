#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "scanner.hpp"
#include "translate.hpp"

// What the forms (forms/forms.cu) and the programs (programs/) do not show when they run: texts
// that stay as they are, rare forms, and sentences.

namespace cuda_on_cpu {
namespace {

/// The translation with shorter names, so that the tables can be read.
std::string shortened(std::string text) {
  const auto replace = [&](const std::string& from, const std::string& to) {
    for (std::size_t at = 0; (at = text.find(from, at)) != std::string::npos; at += to.size()) {
      text.replace(at, from.size(), to);
    }
  };
  replace("::cuda_on_cpu::", "");
  replace("(auto... cuda_on_cpu_arguments)", "(auto... a)");
  replace("(cuda_on_cpu_arguments...)", "(a...)");
  for (const std::string kind : {"data", "bss"})
    replace("CUDA_ON_CPU_SECTION(\"." + kind + ".cuda_on_cpu_device\")", "__device__");
  return text;
}

/// The translation of a file without its first line, or the sentence.
std::string translated(const std::string& text) {
  const std::string head = "#line 1 \"/f.cu\"\n";
  try {
    const std::string translation = translate(text, "/f.cu");
    EXPECT_EQ(translation.substr(0, head.size()), head);
    return shortened(translation.substr(head.size()));
  } catch (const TranslationError& error) {
    return error.what();
  }
}

std::string preprocessed(const std::string& text) {
  try {
    return shortened(translate_preprocessed(text, "/tmp/f.ii"));
  } catch (const TranslationError& error) {
    return error.what();
  }
}

/// What is to become of a text.
struct Case {
  std::string text;
  std::string expected;
};

std::string launch(const std::string& kernel, const std::string& configuration,
                   const std::string& arguments) {
  return "Launch(\"" + kernel + "\", {" + configuration + "})([=](auto... a) { " + kernel +
         "(a...); }" + (arguments.empty() ? "" : ", " + arguments) + ")";
}

/// With the types that the kernel's address tells.
std::string launch_of(const std::string& kernel, const std::string& configuration,
                      const std::string& arguments) {
  return "Launch(\"" + kernel + "\", {" + configuration + "}).of(" + kernel +
         ", [=](auto... a) { " + kernel + "(a...); }).with(" + arguments + ")";
}

TEST(Translate, LeavesEveryCharacterOfOtherTexts) {
  const std::string kernel = "__global__ void k(int* x);\n";
  for (const std::string& text : std::vector<std::string>{
           "",
           "int x;",
           "// kernel \\\n <<<1, 1>>>(x);\nint y;\n",
           "/* kernel<<<1, 1>>>(x);\n __shared__ */ int y;\n",
           R"(auto s = u8"k<<<" L"'" + U'"' + u"<<<";)",
           "auto s = LR\"(\"<<<)\" u8R\"-(<<<)-\" R\"x(k<<<1, 1>>>(x)\" )\" \\)x\";\n",
           "int R; auto s = xR\"(\" \")\";\n",
           R"(char c = '"', d = '\'', e = '<'; // "<<<)",
           "double d = 1e+5 - .5e-3f + 0x1.8p-3 + 1'0.0'1 + 0xAB'CDull; char c = '<';\n",
           "A<B<C<int>>> x; A<B<C<(1 > 0)>>>::D y;\n",
           "a << b < c; y <<= 3; z >>= 2;",
           "operator<<<int>(x); X::operator<<<A>(y); operator<< <T>(a);\n",
           "auto o = a <=> b; bool c = a <= b;\n",
           "<<<<<<< ours\n=======\n>>>>>>> theirs\n",
           "#error don't <<< this\n#include <it's.h>\n#if 1 // \"\nint x;\n#endif\n",
           "#define A /* <<<\n */ 1\n#endif /* don't\n <<< */\n",
           "#if 0\nI don't\n#endif\nint x;\n",
           "#define A\n#define\n#\nint x;\n",
           "#pragma once\n#pragma GCC unroll 4\n",
           "#define A 1\r\nint x; // y\r\n#if A\r\n#endif\r\n",
           "f((void**)&x, (void*)(y + 1), (void*)y + 1); b = (void*)p < (void*)q[0];",
           "(void*)x; (void*)k(y); (void**)k; (void*)k + z;",
           "int my__shared__x; int __shared__2;\n"}) {
    EXPECT_EQ(translated(kernel + text), kernel + text);
  }
}

TEST(Translate, TakesRareForms) {
  const std::vector<Case> cases = {
      {"k<<<1, 1>>>( /* none */ );",
       "Launch(\"k\", {1, 1})([=](auto... a) { k(a...); } /* none */ );"},
      {"A<B, C<D>>::template k<T><<<1, 1>>>(b);",
       launch("A<B, C<D>>::template k<T>", "1, 1", "b") + ";"},
      {"k<<<a < 1 + b < 2 + c < 3, 4>>>(a); l<<<1, 1>>>(b);",
       launch("k", "a < 1 + b < 2 + c < 3, 4", "a") + "; " + launch("l", "1, 1", "b") + ";"},
      {"k<<<f<A<B<int>>>(n), 1>>>(a);", launch("k", "f<A<B<int>>>(n), 1", "a") + ";"},
      {"k<<<p->blocks, q->f<3>()>>>(a->b > c);",
       launch("k", "p->blocks, q->f<3>()", "a->b > c") + ";"},
      {R"x(k<'>', T{"<"}><<<f(">>>"), 1>>>(")", '(');)x",
       R"x(Launch("k<'>', T{\"<\"}>", {f(">>>"), 1})([=](auto... a) { k<'>', T{"<"}>(a...); }, )x"
       R"x(")", '(');)x"},
      {"#define GO { k<<<1, 1>>>(a); \nint x;",
       "#define GO { " + launch("k", "1, 1", "a") + "; \nint x;"},
      {"void f() { __shared__ typename A<T, (1 > 0)>::template B<1>::C x; }",
       R"(void f() { auto& x = shared<typename A<T, (1 > 0)>::template B<1>::C>([] {}, "x"); })"},
      {"void f() { __align__(sizeof(T) * 4) __shared__ T x[4]; }",
       R"(void f() { auto& x = shared<T[4]>([] {}, "x", sizeof(T) * 4); })"},
      {"void f() { static const A<B> __shared__ *const p; }",
       R"(void f() { auto& p = shared<const A<B>* const>([] {}, "p"); })"},
      {"void f() { if (x) { y(); } again: __shared__ int a; }",
       R"(void f() { if (x) { y(); } again: auto& a = shared<int>([] {}, "a"); })"},
      {"namespace a {\n#if X\nvoid f() {\n#else\nvoid f(int) {\n#endif\n}\nvoid g() { __shared__ "
       "int a; }}",
       "namespace a {\n#if X\nvoid f() {\n#else\nvoid f(int) {\n#endif\n}\nvoid g() { auto& a = "
       "shared<int>([] {}, \"a\"); }}"},
      {"extern __shared__ int s[];\n__global__ void k() { s[0] = 1; }\n"
       "__global__ void l(int s) { s = 1; } __device__ void m() { float s = 1; n.s = 2; }",
       "struct cuda_on_cpu_shared_2 {};\n"
       "__global__ void k() { int* const s = dynamic_shared<int>(\"s\"); s[0] = 1; }\n"
       "__global__ void l(int s) { s = 1; } __device__ void m() { float s = 1; n.s = 2; }"},
      {"\n#pragma unroll 4\nfor (;;) _Pragma(\"unroll\") for (;;) {}",
       "\n//#pragma unroll 4\nfor (;;)  for (;;) {}"},
      {"__device__ double atomicAdd(double* a, double b) {}\n"
       "__device__ float atomicAdd(X* a, float b) {}",
       "__device__ double atomicAdd_of_old_devices(double* a, double b) {}\n"
       "__device__ float atomicAdd(X* a, float b) {}"},
      {"__device__ __noinline__ int f(); __attribute__((__noinline__)) int g();",
       "__device__ __attribute__((noinline)) int f(); __attribute__((__noinline__)) int g();"},
      {"__forceinline__ inline int f();", "__attribute__((always_inline)) inline int f();"},
      {"k<<<1, 1>>>(NULL, f(x, NULL + 1)); p = NULL;",
       launch("k", "1, 1", "nullptr, f(x, NULL + 1)") + "; p = NULL;"}};
  for (const Case& tried : cases) EXPECT_EQ(translated(tried.text), tried.expected);
}

TEST(Translate, LeavesOtherAssemblyAlone) {
  for (
      const std::string text :
      {R"(asm("bar.sync 0;");)", R"(asm("mov.u32 %0, %%envreg3;" : "=r"(x));)",
       R"(asm("mov.u32 %0, %%laneid; mov.u32 %1, %%smid;" : "=r"(x));)",
       R"(asm("mma.sync.aligned.m16n8k4.row.col.f64.f64.f64.f64 {%0};");)",
       R"(asm("mma.sync.aligned.m8n8k4.row.col.f16.f16.f16.f16 {%0}, {%0}, {%0}, {%0};" : "+r"(x));)",
       R"(} void on_the_host() { asm("mov.u32 %0, %%laneid;" : "=r"(x));)"}) {
    const std::string function = "__device__ void f() { " + text + " }";
    EXPECT_EQ(translated(function), function);
  }
}

TEST(Translate, RefusesByFileAndLine) {
  const std::string no_initializer =
      "2: shared memory cannot be initialized where it is declared; its type needs a name";
  const std::string too_involved =
      "2: this declaration of shared memory is too involved; give its type a name";
  const std::vector<Case> cases = {
      {"\n\nk<<<1, 1>>>;", "3: a launch needs its arguments in parentheses behind >>>"},
      {"#define GO k<<<1, 1>>>\nGO(a);",
       "1: a launch needs its arguments in parentheses behind >>>"},
      {"\nk<<<1, 1>>(a);\n", "2: the <<< of this launch is never closed by >>>"},
      {"f(k<<<1, 1);\nl<<<1, 1>>>(b);", "1: the <<< of this launch is never closed by >>>"},
      {"int x;\n<<<1, 1>>>(a);", "2: no kernel stands before <<<"},
      {"return <<<1, 1>>>(a);", "1: no kernel stands before <<<"},
      {"3<<<1, 1>>>(a);", "1: no kernel stands before <<<"},
      {"{\nk<<<1, 1>>>(a;\n", "2: the '(' is never closed"},
      {"k<<<f(1, 1>>>(a);", "1: the '(' is never closed"},
      {"#define GO k<<<1, f(>>>(a)\n)\n", "1: the '(' is never closed"},
      {"k, a><<<1, 1>>>(a);", "1: the template arguments that end with this '>' have no beginning"},
      {"a)<<<1, 1>>>(a);", "1: the ')' was never opened"},
      {"p(q<<<1, 1>>>(x))<<<1, 1>>>(a);",
       "1: a launch within the expression that names a kernel is too involved"},
      {"int x;\n/* kernel\n", "2: the comment that begins here never ends"},
      {"\nauto s = R\"x(...)\";\n", "2: the raw string that begins here never ends"},
      {"void f() {\n__shared__ int b = 3;\n}", no_initializer},
      {"void f() {\n__shared__ int b{3};\n}", no_initializer},
      {"void f() {\n__shared__ A b(3);\n}", too_involved},
      {"void f() {\n__shared__ int (*b)[3];\n}", too_involved},
      {"void f() {\n__shared__ int;\n}", "2: a type and a name are expected behind __shared__"},
      {"#define SHARED __shared__\n", "1: a type and a name are expected behind __shared__"},
      {"void f() { extern __shared__ int b; }", "1: extern __shared__ must declare an array"},
      {"void f() { __shared__ alignas int b; }", "1: an alignment needs its parentheses"},
      {"void f() { __shared__ int b", "1: the declaration of shared memory has no end"}};
  for (const Case& tried : cases) EXPECT_EQ(translated(tried.text), "/f.cu:" + tried.expected);
}

TEST(Translate, QuotesThePathOfTheOriginal) {
  EXPECT_EQ(translate("int x;", "/a \"b\"\\c.cu"), "#line 1 \"/a \\\"b\\\"\\\\c.cu\"\nint x;");
}

// ----------------------------------------------------------------------------------- preprocessed

TEST(TranslatePreprocessed, FollowsTheLinesOfThePreprocessor) {
  const std::string header = "# 1 \"/usr/include/x.h\" 1 3 4\nk<<<1, 1>>>(a); tex2D(x);\n";
  EXPECT_EQ(preprocessed("# 0 \"f.cu\"\n" + header + "# 2 \"f.cu\" 2\nk<<<1, 1>>>(b);\n"),
            "# 0 \"f.cu\"\n" + header + "# 2 \"f.cu\" 2\n" + launch_of("k", "1, 1", "b") + ";\n");
  EXPECT_EQ(
      preprocessed("# 1 \"f.cu\"\nk<<<1, 1>>>(a,\n# 2 \"f.cu\" 3 4\n__null\n# 2 \"f.cu\"\n);\n"),
      "# 1 \"f.cu\"\n" + launch_of("k", "1, 1", "a,\n# 2 \"f.cu\" 3 4\nnullptr\n# 2 \"f.cu\"\n") +
          ";\n");
  EXPECT_EQ(
      preprocessed("# 1 \"f.cu\"\n\n# 7 \"g.cuh\"\n\ntexture<float> t;"),
      "g.cuh:8: 'texture': texture references are gone since CUDA 12; create a texture object by "
      "cudaCreateTextureObject()");
}

TEST(TranslatePreprocessed, PutsVariablesOfTheDeviceTogether) {
  EXPECT_EQ(translate_preprocessed("__device__ int a[3]; static __constant__ float b = 1;", "f.ii"),
            "CUDA_ON_CPU_SECTION(\".bss.cuda_on_cpu_device\") int a[3]; static "
            "CUDA_ON_CPU_SECTION(\".data.cuda_on_cpu_device\") float b = 1;");
}

TEST(TranslatePreprocessed, LanesReadBeforeTheyStoreThroughVolatile) {
  const std::string head = "# 1 \"f.cu\"\n__device__ void f(volatile T* p) { ";
  EXPECT_EQ(
      preprocessed(head + "if (a) p[t] += p[t + 8]; else p[t] = b; q[t] = p[t]; p[i++] = 1; "
                          "f(p[t] = 2); p[t].x = 3; l:p[1]=2; }"),
      head +
          "if (a) store_in_lockstep(p[t], [&] { return p[t] + ( p[t + 8]); }); else "
          "store_in_lockstep(p[t], [&] { return  b; }); q[t] = p[t]; p[i++] = 1; f(p[t] = 2); "
          "p[t].x = 3; l: store_in_lockstep(p[1], [&] { return 2; }); }");
}

TEST(TranslatePreprocessed, LeavesWhatOnlyLooksLikeTheRuntimes) {
  const std::string loop = "__device__ volatile int f; __global__ void k() { ";
  for (const std::string& text : std::vector<std::string>{
           "using ::cudaFree;", "auto cudaFree = 1;", "a.cudaFree;", "a->cudaFree;",
           "T<int>::cudaFree;", "x = cudaSuccess;", "f(cudaGetLastError);",
           "cudaMalloc<float>(&p, 4);", "int texture = 1;", "int tex2D = 2;",
           "void f() { asm(\"nop\"); }", "int curve = cubed(2);", loop + "while (g == 0) ++n; }",
           loop + "while (int i = f) ++n; }", loop + "for (volatile int i = 0; i < n;) n(); }",
           loop + "x = *(volatile int*)p; while (int(n)) ++n; }",
           loop + "} __device__ void g(volatile int n) { } __global__ void l() { while (n) ++n; }",
           loop + "} constexpr __device__ int g() { while (f) ++n; }"}) {
    EXPECT_EQ(preprocessed(text), text);
  }
  EXPECT_EQ(preprocessed(loop + "for (; f == 0;) ++n; }"),
            loop + "for (;  note_look(), f == 0;) ++n; }");
}

TEST(TranslatePreprocessed, RefusesNoCallThatMayBeRight) {
  const std::string host = "int h(int x) { return x; }\n";
  const std::string device = "__device__ int d() { return 1; }\n";
  const std::string kernel = "__global__ void k(int* x) { }\n";
  const std::string place = "# 1 \"f.cu\"\n";
  for (const std::string& wrong : std::vector<std::string>{
           host + "__global__ void k() { h(1); }",
           "namespace a { int h(int x); }\nnamespace a { __global__ void k() { h(1); } }"}) {
    EXPECT_EQ(preprocessed(place + wrong),
              "f.cu:2: the kernel 'k' calls 'h', a function of the host; write __device__ before "
              "that one");
  }
  for (const std::string& right : std::vector<std::string>{
           host + "__device__ int h(float x);\n__global__ void k() { h(1); }",
           "constexpr " + host + "__global__ void k() { h(1); }",
           "template <class T> " + host + "__global__ void k() { h(1); }",
           host + "struct S { int g; };\n__global__ void k(S s) { s.h(1); S::h(1); }",
           host + "__global__ void k() { auto h = [](int x) { return x; }; h(1); }",
           host + "__global__ void k(F h) { h(1); }",
           host + "template <class T> __device__ void k(T x) { h(x); }",
           host + "__host__ __device__ void k() { h(1); }",
           device + "int d(int x);\nint main() { d(); }",
           device + "int main() { auto d = 1; s.d(); a::d(); }",
           "__host__ " + device + "int main() { d(); }",
           device + "int main() { auto l = [] __device__ () { return d(); }; }",
           kernel + "void k(float x);\nint main() { k(x); }",
           device + "int apply(int (*d)()) { return d(); }",
           device + "int main() { A other(1), d(2); d(); }",
           device + "struct S { F d; int f() { return d(); } };\nint f() { return d(); }",
           device + "int main() { d(1, 2); }",
           device + "int main() { sizeof(d()); }",
           device + "# 1 \"h.h\" 1 3\nint d(int x);\n# 1 \"f.cu\" 2\nint main() { d(); }",
           host + "template <class F> struct M { F h; __device__ void go() { h(1); } };",
           "namespace a { " + host + "}\n__global__ void k() { h(1); }",
           host + "__global__ void k() { h(1, 2); }",
           host + "__global__ void k() { using b::h; h(1); }",
           host + "template <int N> __global__ void k(int x) { }\ntemplate <> __global__ void "
                  "k<3>(int x) { }"}) {
    EXPECT_EQ(preprocessed(place + right), place + right);
  }
  for (const std::string& launch : {kernel + "void k(float x);\nint main() { k<<<1, 2>>>(x); }",
                                    "template <class T> " + host + "int main() { h<<<1, 2>>>(x); }",
                                    host + "void f(void (*h)(int)) { h<<<1, 2>>>(x); }"}) {
    EXPECT_NE(preprocessed(place + launch).find("Launch("), std::string::npos) << launch;
  }
}

TEST(TranslatePreprocessed, RefusesWhatNvccDoes) {
  const std::string lambda =
      "a __device__ lambda cannot capture by reference: a GPU has none of the host's variables; "
      "capture by value, [=]";
  const std::vector<Case> cases = {
      {"struct S { __global__ void k(int* x) { } };",
       "the kernel 'k' is a member of a class, which none may be; declare it outside"},
      {"__global__ void k(int a, S&& x) { }",
       "the kernel 'k' takes an argument by &&, which none may; take it by value"},
      {"void f() { run([&] __device__ (int i) { }); }", lambda},
      {"void f() { auto l = [=, &n] __host__ __device__ (int i) { }; }", lambda},
      {"__device__ void d(int* x) { }\nint main() { d<<<1, 2>>>(x); }",
       "'d' is launched, but is no kernel; declare it as __global__ void"}};
  for (const Case& tried : cases) {
    const std::string said = preprocessed("# 1 \"f.cu\"\n" + tried.text);
    EXPECT_EQ(said.substr(said.find(": ") + 2), tried.expected) << said;
  }
  for (const std::string& right : std::vector<std::string>{
           "void f() { auto l = [=, p = &n] __device__ (int i) { }; auto m = [&](int i) { }; }",
           "__global__ void k() { auto l = [&] __device__ (int i) { }; }",
           "[[nodiscard]] __device__ int d(int& x);",
           "struct S { friend __global__ void k(int* x) { } };",
           "__device__ int a[3]; __device__ int b;"}) {
    EXPECT_EQ(preprocessed(right), right);
  }
}

}  // namespace
}  // namespace cuda_on_cpu
