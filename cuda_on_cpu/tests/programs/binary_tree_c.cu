/* A binary search tree in plain C style: built by the host in one array, searched by the device. */
#include <stdlib.h>

#include "expect.h"

#define COUNT 200
#define QUERIES 64

typedef struct node {
    int key;
    struct node *left, *right;
} node_t;

typedef enum { MISSING = 0, FOUND = 1 } result_t;

struct answer {
    result_t result;
    int depth;
};

/* host pointers would mean nothing to the device, so they are those of the copy */
static struct node *insert(node_t *host, node_t *device, int *used, struct node *root, int key)
{
    node_t *h;
    if (root == NULL) {
        h = &host[*used];
        h->key = key;
        h->left = h->right = NULL;
        return &device[(*used)++];
    }
    h = &host[root - device];
    if (key < h->key)
        h->left = insert(host, device, used, h->left, key);
    else if (key > h->key)
        h->right = insert(host, device, used, h->right, key);
    return root;
}

__global__ void search(const struct node *root, struct answer *answers, int n)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    const node_t *p = root;
    struct answer a = {MISSING, 0};

    if (i >= n)
        return;
    while (p) {
        a.depth++;
        if (p->key == 3 * i) {
            a.result = FOUND;
            break;
        }
        p = 3 * i < p->key ? p->left : p->right;
    }
    answers[i] = a;
}

int main(void)
{
    node_t *host = (node_t *)calloc(COUNT, sizeof(node_t)), *device;
    struct answer *d_answers, answers[QUERIES];
    struct node *root = NULL;
    int used = 0, i, found = 0, deepest = 0;

    memset(answers, 0, sizeof answers);
    OK(cudaMalloc((void **)&device, COUNT * sizeof(node_t)));
    OK(cudaMalloc((void **)&d_answers, sizeof answers));
    for (i = 0; i < COUNT; i++)
        root = insert(host, device, &used, root, (i * 83) % 211);
    OK(cudaMemcpy(device, host, used * sizeof(*host), cudaMemcpyHostToDevice));
    search<<<(QUERIES + 31) / 32, 32>>>(root, d_answers, QUERIES);
    search<<<1, 1>>>(NULL, d_answers + QUERIES - 1, 1);
    OK(cudaMemcpy(answers, d_answers, sizeof answers, cudaMemcpyDeviceToHost));
    for (i = 0; i < QUERIES; i++) {
        found += answers[i].result;
        if (answers[i].depth > deepest)
            deepest = answers[i].depth;
    }
    EXPECT(used == COUNT && found == 59 && deepest > 5);
    EXPECT(answers[QUERIES - 1].depth == 0);
    cudaFree(device);
    cudaFree(d_answers);
    free(host);
    return 0;
}
