#!/usr/bin/env python3
"""Creates the golden values: what PyTorch computes for a few small trainings in float64.

Run it with Debian's PyTorch, in this folder:

    sudo apt install python3-torch python3-h5py
    /usr/bin/python3 make_golden.py

Each training becomes one HDF5 file in the layout of our checkpoints (common/io/checkpoint.hpp):
attributes of the root say how to train, and "parameters" are

    data/x            [samples, ...]  the features
    data/labels       [samples]       the classes
    initial/fc1/...                   the network's parameters before
    expected/fc1/...                  and after the training
    expected/losses   [epochs]        the loss that each epoch reports

The parameters of the cnn are too many for a small file. Its training starts from numbers that both
sides compute (lehmer() below, in C++ std::minstd_rand), and of what PyTorch arrives at the file
holds a summary of each parameter: its length, its scalar product with numbers of lehmer(), to
which every element contributes in its own way, and a few of its elements. See test_golden.cpp.

    gradient/conv1/...   the summaries of the first step's gradients
    expected/conv1/...   and of the parameters after all steps
    expected/losses      [steps]

The training of workers with their own weights has the parameters that each starts from and ends
with, and the mean of the latter:

    start/1/fc1/...  end/1/fc1/...  expected/fc1/...

Everything that PyTorch does here it does with its own tools (modules, automatic differentiation,
torch.optim.SGD and Adam, their schedulers), none of it with our formulas: that is what makes the comparison worth something.
"""

import copy
import math

import h5py
import torch

SAMPLES = 23
BATCH_SIZE = 5  # the last batch of an epoch has 3 samples
EPOCHS = 3

CASES = {
    # name: (model, shape of a sample, classes, hidden, activation, loss, learning rate, l2)
    "relu_cross_entropy_l2": ("mlp", (3, 2, 2), 4, [6, 5], "relu", "cross-entropy", 0.3, 0.01),
    "sigmoid_cross_entropy": ("mlp", (7,), 3, [6], "sigmoid", "cross-entropy", 0.8, 0.0),
    "sigmoid_squared_error": ("mlp", (7,), 3, [6], "sigmoid", "squared-error", 0.7, 0.0),
    "relu_squared_error_l2": ("mlp", (5,), 3, [8], "relu", "squared-error", 0.1, 0.02),
    "no_hidden_layer_l2": ("mlp", (7,), 3, [], "relu", "cross-entropy", 0.5, 0.05),
    "neuron": ("neuron", (3,), 2, [], "sigmoid", "squared-error", 1.5, 0.0),
    "momentum_l2": ("mlp", (7,), 3, [6], "sigmoid", "cross-entropy", 0.2, 0.01, "momentum"),
    "adam_l2": ("mlp", (7,), 3, [6], "sigmoid", "cross-entropy", 0.05, 0.01, "adam"),
    "sgd_step": ("mlp", (7,), 3, [6], "sigmoid", "cross-entropy", 0.8, 0.0, "sgd", "step"),
    "momentum_cosine": ("mlp", (7,), 3, [6], "sigmoid", "cross-entropy", 0.4, 0.0, "momentum",
                        "cosine", 4),
    "adam_warmup": ("mlp", (7,), 3, [6], "sigmoid", "cross-entropy", 0.1, 0.0, "adam", "constant",
                    6),
}
MOMENTUM, BETAS, EPSILON = 0.85, (0.8, 0.95), 1e-3  # not PyTorch's, so that each has an effect


def build_network(model, sample, classes, hidden, activation, loss):
    """The network as a PyTorch module, and its linear layers from first to last."""
    features = torch.Size(sample).numel()
    widths = [features, *hidden, 1 if model == "neuron" else classes]
    unit = {"relu": torch.nn.ReLU, "sigmoid": torch.nn.Sigmoid}[activation]
    layers = [torch.nn.Linear(i, o, dtype=torch.float64) for i, o in zip(widths, widths[1:])]
    modules = [torch.nn.Flatten()]
    for layer in layers:
        modules += [layer, unit()]
    # Logits have no activation; squared error has one only where it is a sigmoid.
    if not (loss == "squared-error" and activation == "sigmoid"):
        modules.pop()
    return torch.nn.Sequential(*modules), layers


def data_loss(outputs, labels, loss):
    """The mean over the batch."""
    if loss == "cross-entropy":
        return torch.nn.functional.cross_entropy(outputs, labels)
    if outputs.shape[1] == 1:  # the neuron: its one output should be the label itself
        target = labels.to(outputs.dtype).unsqueeze(1)
    else:
        target = torch.nn.functional.one_hot(labels, outputs.shape[1]).to(outputs.dtype)
    return torch.nn.functional.mse_loss(outputs, target, reduction="sum") / len(labels)


def make_optimizer(name, layers, rate, l2):
    groups = [
        {"params": [layer.weight for layer in layers], "weight_decay": l2},
        {"params": [layer.bias for layer in layers], "weight_decay": 0},
    ]
    if name == "adam":
        return torch.optim.Adam(groups, lr=rate, betas=BETAS, eps=EPSILON)
    return torch.optim.SGD(groups, lr=rate, momentum=MOMENTUM if name == "momentum" else 0)


def make_scheduler(optimizer, decay, warmup, steps):
    """To be stepped after each step of the optimizer."""
    rates = torch.optim.lr_scheduler
    after = {
        "constant": lambda: rates.ConstantLR(optimizer, factor=1),
        "step": lambda: rates.MultiStepLR(
            optimizer, [math.ceil(part * (steps - warmup)) for part in (0.5, 0.75)]),
        "cosine": lambda: rates.CosineAnnealingLR(optimizer, T_max=steps - warmup),
    }[decay]
    if warmup == 0:
        return after()
    rising = rates.LinearLR(optimizer, start_factor=1 / warmup, total_iters=warmup - 1)
    return rates.SequentialLR(optimizer, [rising, after()], [warmup])


def optimizer_settings(rule, decay="constant", warmup=0):
    return {"optimizer": rule, "momentum": MOMENTUM, "beta1": BETAS[0], "beta2": BETAS[1], "epsilon": EPSILON,
            "schedule": decay, "warmup": warmup}


def write(name, parameters, losses, seed, epoch, step, **settings):
    """The file NAME.h5. In settings' names, underscores become hyphens; all but the three numbers become texts."""
    with h5py.File(f"{name}.h5", "w") as file:
        file.attrs.update(seed=seed, epoch=epoch, step=step, precision="double")
        for key, value in {**settings, "made-by": f"PyTorch {torch.__version__}"}.items():
            file.attrs[key.replace("_", "-")] = str(value)
        for key, value in parameters.items():
            file[f"parameters/{key}"] = value.numpy()
        file["parameters/expected/losses"] = losses
    print(f"{name}: losses {', '.join(f'{value:.6f}' for value in losses)}")


def parameters_of(layers):
    """Copies of all parameters under our names; our weights are [in, out], PyTorch's [out, in]."""
    values = {}
    for i, layer in enumerate(layers, start=1):
        values[f"fc{i}/weight"] = layer.weight.detach().t().contiguous().clone()
        values[f"fc{i}/bias"] = layer.bias.detach().clone()
    return values


def make_case(number, name, model, sample, classes, hidden, activation, loss, rate, l2,
              rule="sgd", decay="constant", warmup=0):
    torch.manual_seed(number)
    x = torch.randn(SAMPLES, *sample, dtype=torch.float64)
    labels = torch.randint(classes, (SAMPLES,))
    network, layers = build_network(model, sample, classes, hidden, activation, loss)
    initial = parameters_of(layers)

    weights = [layer.weight for layer in layers]
    optimizer = make_optimizer(rule, layers, rate, l2)
    scheduler = make_scheduler(optimizer, decay, warmup, EPOCHS * -(-SAMPLES // BATCH_SIZE))
    losses = []
    for _ in range(EPOCHS):
        total = 0.0
        for x_batch, label_batch in zip(x.split(BATCH_SIZE), labels.split(BATCH_SIZE)):
            optimizer.zero_grad()
            batch_loss = data_loss(network(x_batch), label_batch, loss)
            batch_loss.backward()
            optimizer.step()
            scheduler.step()
            total += batch_loss.item() * len(label_batch)
        penalty = l2 / 2 * sum((w.detach() ** 2).sum().item() for w in weights)
        losses.append(total / SAMPLES + penalty)

    stored = {"data/x": x, "data/labels": labels.double()}
    stored.update({f"initial/{key}": value for key, value in initial.items()})
    stored.update({f"expected/{key}": value for key, value in parameters_of(layers).items()})
    write(name, stored, losses, number, EPOCHS, EPOCHS * -(-SAMPLES // BATCH_SIZE), model=model,
          hidden=",".join(map(str, hidden)), classes=classes, activation=activation, loss=loss, learning_rate=rate,
          l2=l2, batch_size=BATCH_SIZE, **optimizer_settings(rule, decay, warmup))


CNN_SAMPLE = (20, 24, 2)  # height, width, channels; 2x3 pixels are left for the first linear layer
CNN_CLASSES = 3
CNN_BATCH_SIZE = 2
CNN_STEPS = 3
CNN_RATE = 0.02
CNN_L2 = 0.01
CNN_SAMPLED = 60  # elements of each parameter in its summary


def lehmer(seed, count):
    """The numbers of std::minstd_rand(seed): exactly the same integers on any machine."""
    numbers = []
    for _ in range(count):
        seed = seed * 48271 % 2147483647
        numbers.append(seed)
    return numbers


def uniform(seed, count):
    """In (-1, 1)."""
    return 2 * (torch.tensor(lehmer(seed, count), dtype=torch.float64) / 2147483647) - 1


def summary(number, values):
    """Of the parameter with this number, in our order of elements."""
    flat = values.contiguous().flatten()
    sampled = [n % len(flat) for n in lehmer(200 + number, CNN_SAMPLED)]
    weights = uniform(300 + number, len(flat))
    return torch.cat([flat.norm().view(1), (flat * weights).sum().view(1), flat[sampled]])


def make_cnn(name, biases):
    conv1 = torch.nn.Conv2d(CNN_SAMPLE[2], 32, 5, bias=biases)
    conv2 = torch.nn.Conv2d(32, 64, 5, bias=biases)
    fc1 = torch.nn.Linear(2 * 3 * 64, 128, bias=biases)
    fc2 = torch.nn.Linear(128, CNN_CLASSES, bias=biases)
    layers = {"conv1": conv1, "conv2": conv2, "fc1": fc1, "fc2": fc2}
    torch.nn.ModuleList(layers.values()).double()

    # PyTorch's images are [channel, height, width], its filters [out, in, height, width].
    def ours(value):
        return value.permute(2, 3, 1, 0) if value.dim() == 4 else value.t()

    def parameters():
        """Name, PyTorch's tensor, and how it looks in our order of dimensions."""
        for layer, module in layers.items():
            kind = "filter" if layer.startswith("conv") else "weight"
            yield f"{layer}/{kind}", module.weight, ours
            if biases:
                yield f"{layer}/bias", module.bias, lambda value: value

    with torch.no_grad():
        for number, (key, tensor, view) in enumerate(parameters(), start=1):
            mine = view(tensor)
            inputs = tensor.numel() // mine.shape[-1]
            limit = 0.1 if key.endswith("bias") else (6 / inputs) ** 0.5
            mine.copy_(limit * uniform(number, tensor.numel()).view(mine.shape))

    def network(images):
        hidden = images.permute(0, 3, 1, 2)
        for layer in (conv1, conv2):
            hidden = torch.nn.functional.avg_pool2d(torch.relu(layer(hidden)), 2)
        # Our pixels have their channels innermost when they become one row.
        return fc2(torch.relu(fc1(hidden.permute(0, 2, 3, 1).flatten(1))))

    count = CNN_BATCH_SIZE * CNN_STEPS
    x = uniform(100, count * torch.Size(CNN_SAMPLE).numel()).view(count, *CNN_SAMPLE)
    labels = torch.tensor([2, 0, 1, 1, 0, 2])
    weights = [layer.weight for layer in layers.values()]
    groups = [{"params": weights, "weight_decay": CNN_L2}]
    if biases:
        groups.append({"params": [layer.bias for layer in layers.values()], "weight_decay": 0})
    optimizer = torch.optim.SGD(groups, lr=CNN_RATE)

    losses, stored = [], {}
    for x_batch, label_batch in zip(x.split(CNN_BATCH_SIZE), labels.split(CNN_BATCH_SIZE)):
        optimizer.zero_grad()
        loss = data_loss(network(x_batch), label_batch, "cross-entropy")
        loss.backward()
        if not losses:
            for number, (key, tensor, view) in enumerate(parameters(), start=1):
                stored[f"gradient/{key}"] = summary(number, view(tensor.grad))
        optimizer.step()
        losses.append(loss.item())
    for number, (key, tensor, view) in enumerate(parameters(), start=1):
        stored[f"expected/{key}"] = summary(number, view(tensor.detach()))
    stored["data/labels"] = labels.double()
    height, width, channels = CNN_SAMPLE
    write(name, stored, losses, 0, 1, CNN_STEPS, model="cnn", biases="on" if biases else "off", height=height,
          width=width, channels=channels, classes=CNN_CLASSES, learning_rate=CNN_RATE, l2=CNN_L2,
          batch_size=CNN_BATCH_SIZE)


def make_workers(name, workers=3, every=2, sample=(5,), classes=3, hidden=6, rate=0.6, l2=0.01,
                 rule="sgd"):
    """Workers with their own weights, whose mean is taken after every second step."""
    torch.manual_seed(77)
    x = torch.randn(SAMPLES, *sample, dtype=torch.float64)
    labels = torch.randint(classes, (SAMPLES,))
    built = [
        build_network("mlp", sample, classes, [hidden], "sigmoid", "cross-entropy")
        for _ in range(workers)
    ]
    stored = {"data/x": x, "data/labels": labels.double()}
    optimizers = []
    for i, (_, layers) in enumerate(built, start=1):
        stored.update({f"start/{i}/{k}": v for k, v in parameters_of(layers).items()})
        optimizers.append(make_optimizer(rule, layers, rate, l2))

    def mean_state():
        states = [network.state_dict() for network, _ in built]
        return {key: torch.stack([s[key] for s in states]).mean(0) for key in states[0]}

    mean_network, mean_layers = copy.deepcopy(built[0])
    steps, losses = 0, []
    for _ in range(EPOCHS):
        total = 0.0
        for x_batch, label_batch in zip(x.split(BATCH_SIZE), labels.split(BATCH_SIZE)):
            x_shards = torch.tensor_split(x_batch, workers)
            label_shards = torch.tensor_split(label_batch, workers)
            for (network, _), optimizer, xs, ls in zip(built, optimizers, x_shards, label_shards):
                optimizer.zero_grad()
                loss = data_loss(network(xs), ls, "cross-entropy")
                loss.backward()
                optimizer.step()
                total += loss.item() * len(ls)
            steps += 1
            if steps % every == 0:
                mean = mean_state()
                for network, _ in built:
                    network.load_state_dict(mean)
        mean_network.load_state_dict(mean_state())
        mean_layers = [m for m in mean_network if isinstance(m, torch.nn.Linear)]
        penalty = l2 / 2 * sum((m.weight.detach() ** 2).sum().item() for m in mean_layers)
        losses.append(total / SAMPLES + penalty)
    for i, (_, layers) in enumerate(built, start=1):
        stored.update({f"end/{i}/{k}": v for k, v in parameters_of(layers).items()})
    stored.update({f"expected/{k}": v for k, v in parameters_of(mean_layers).items()})
    write(name, stored, losses, 77, EPOCHS, steps, model="mlp", hidden=hidden, classes=classes, activation="sigmoid",
          loss="cross-entropy", learning_rate=rate, l2=l2, batch_size=BATCH_SIZE, workers=workers, average_every=every,
          **optimizer_settings(rule))


for case_number, (case_name, case) in enumerate(CASES.items(), start=1):
    make_case(case_number, case_name, *case)
make_cnn("cnn_with_biases", True)
make_cnn("cnn_without_biases", False)
make_workers("workers_average_weights")
make_workers("workers_average_weights_adam", rate=0.05, rule="adam")
