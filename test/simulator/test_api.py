"""What training scripts call on CUDA: each case is one subtest, and each checks an answer that can be wrong."""

from support import SimulatedTestCase, torch

import contextlib
import copy
import io
import pickle
import threading
import unittest
import warnings
from typing import Any, Callable, List, Tuple

import torch.nn.functional as F
from torch import Tensor, nn
from torch.utils.data import DataLoader, TensorDataset

CUDA_0, CUDA_1, CPU = torch.device("cuda", 0), torch.device("cuda", 1), torch.device("cpu")


class ApiTest(SimulatedTestCase):
    def setUp(self) -> None:
        super().setUp()
        self.square = torch.randn(4, 4, device="cuda", requires_grad=True)

    def cases(self, *cases: Tuple[str, Callable[[], Any], Any]) -> None:
        """Each case: a name, what to do, and its answer."""
        for name, action, expected in cases:
            with self.subTest(name):
                self.assertEqual(action(), expected)

    def test_creation(self) -> None:
        x = self.square
        self.cases(
            ("empty", lambda: torch.empty(3, device="cuda").device, CUDA_0),
            ("second device", lambda: torch.randn(3, device="cuda:1").device, CUDA_1),
            ("ones", lambda: torch.ones(3, device="cuda").tolist(), [1.0, 1.0, 1.0]),
            ("tensor", lambda: torch.tensor([1, 2], device="cuda").tolist(), [1, 2]),
            ("to", lambda: torch.arange(4).to("cuda").tolist(), [0, 1, 2, 3]),
            ("cuda()", lambda: (torch.arange(3.0).cuda() * 2 + 1).cpu().tolist(), [1.0, 3.0, 5.0]),
            ("new_zeros", lambda: x.new_zeros(3).device, CUDA_0),
            ("zeros_like", lambda: torch.zeros_like(x).device, CUDA_0),
            ("legacy constructor", lambda: torch.cuda.FloatTensor([1, 2]).device, CUDA_0),
            ("legacy sizes", lambda: torch.cuda.LongTensor(2, 3).shape, (2, 3)),
            ("legacy isinstance", lambda: isinstance(x, torch.cuda.FloatTensor), True),
            ("legacy other type", lambda: isinstance(x, torch.cuda.HalfTensor), False),
            ("type()", lambda: x.type(), "torch.cuda.FloatTensor"),
        )
        with torch.device("cuda"):
            self.assertEqual(nn.Linear(2, 2).weight.device, CUDA_0)
        with torch.cuda.device(1):
            self.assertEqual(torch.empty(1, device="cuda").device, CUDA_1)
        self.assertEqual(torch.cuda.current_device(), 0)
        torch.set_default_device("cuda")
        self.addCleanup(torch.set_default_device, None)
        self.assertEqual(torch.zeros(2).device, CUDA_0)

    def test_invalid_devices(self) -> None:
        with self.assertRaisesRegex(RuntimeError, "invalid device ordinal"):
            torch.empty(1, device="cuda:2")
        with self.assertRaisesRegex(RuntimeError, "invalid device ordinal"):
            torch.cuda.set_device(5)

    def test_devices_do_not_mix(self) -> None:
        x = self.square.detach()
        for other in (torch.randn(4, 4), torch.randn(4, 4, device="cuda:1")):
            with self.subTest(str(other.device)):
                with self.assertRaisesRegex(RuntimeError, "Expected all tensors to be on the same device"):
                    x + other
                with self.assertRaisesRegex(RuntimeError, "Expected all tensors to be on the same device"):
                    x @ other
        with self.assertRaisesRegex(TypeError, "can't convert cuda:0 device type tensor to numpy"):
            x.numpy()
        self.cases(
            ("a CPU scalar may mix", lambda: (x + torch.tensor(2.0)).device, CUDA_0),
            ("a CPU index may mix", lambda: x[torch.tensor([0, 1])].shape, (2, 4)),
        )

    def test_operators(self) -> None:
        x = self.square.detach()
        host = x.cpu()

        def resized() -> Tuple[int, ...]:
            tensor = torch.empty(3, device="cuda")
            tensor.resize_(1000)
            return tuple(tensor.shape) + (torch.cuda.memory_allocated(),)

        def written_out() -> bool:
            output = torch.empty(0, device="cuda")
            torch.add(x, 1, out=output)
            return torch.equal(output.cpu(), host + 1)

        def set_to_another() -> List[float]:
            tensor = torch.empty(0, device="cuda")
            tensor.set_(torch.ones(2, device="cuda"))
            return tensor.tolist()

        def through_a_view() -> float:
            tensor = torch.zeros(4, 4, device="cuda")
            tensor.view(-1).fill_(3)
            return tensor.sum().item()

        def masked() -> bool:
            tensor = x.clone()
            tensor[tensor > 0] = 0
            return bool((tensor <= 0).all())

        used = torch.cuda.memory_allocated()
        self.cases(
            ("resize_", resized, (1000, used + 4096)),
            ("out=", written_out, True),
            ("set_", set_to_another, [1.0, 1.0]),
            ("view", through_a_view, 48.0),
            ("mask", lambda: x[x > 0].numel(), int((host > 0).sum())),
            ("masked write", masked, True),
            ("view as another type", lambda: x.view(torch.int32).device, CUDA_0),
            ("sort", lambda: torch.equal(torch.sort(x)[0].cpu(), torch.sort(host)[0]), True),
            ("topk", lambda: torch.topk(x, 2)[1].device, CUDA_0),
            ("unique", lambda: torch.unique(torch.tensor([2, 1, 2], device="cuda")).tolist(), [1, 2]),
            ("nonzero", lambda: torch.tensor([0, 3], device="cuda").nonzero().tolist(), [[1]]),
            ("einsum", lambda: torch.allclose(torch.einsum("ij,jk->ik", x, x).cpu(), host @ host), True),
            ("svd", lambda: torch.allclose(torch.linalg.svd(x)[1].cpu(), torch.linalg.svd(host)[1]), True),
            ("fft", lambda: torch.fft.fft(x).device, CUDA_0),
            ("half", lambda: x.half().sum().dtype, torch.float16),
            ("print", lambda: "device='cuda:0'" in repr(x), True),
            ("item", lambda: torch.tensor(3, device="cuda").item(), 3),
            ("embedding", lambda: nn.Embedding(10, 3).cuda()(torch.arange(5, device="cuda")).shape, (5, 3)),
            ("to_sparse", lambda: torch.eye(3, device="cuda").to_sparse().device, CUDA_0),
        )

    def test_random_numbers(self) -> None:
        def seeded(seed: int) -> List[float]:
            torch.manual_seed(seed)
            return torch.randn(2, device="cuda").tolist()

        def generated(seed: int) -> List[float]:
            generator = torch.Generator(device="cuda").manual_seed(seed)
            return torch.randn(2, generator=generator, device="cuda").tolist()

        self.assertEqual(seeded(5), seeded(5))
        self.assertNotEqual(seeded(5), seeded(6))
        self.assertEqual(generated(3), generated(3))
        state = torch.cuda.get_rng_state()
        first = torch.rand(3, device="cuda")
        torch.cuda.set_rng_state(state)
        self.assertTrue(torch.equal(first, torch.rand(3, device="cuda")))
        self.assertEqual(len(torch.cuda.get_rng_state_all()), 2)
        with torch.random.fork_rng(range(2)):
            inside = torch.rand(3, device="cuda")
        self.assertTrue(torch.equal(inside, torch.rand(3, device="cuda")))

    def test_autocast(self) -> None:
        x = self.square
        with torch.autocast("cuda", dtype=torch.float16):
            product = x @ x
            self.assertEqual((product.dtype, torch.softmax(product, -1).dtype), (torch.float16, torch.float32))
        with torch.autocast("cuda", dtype=torch.bfloat16):
            self.assertEqual((x @ x).dtype, torch.bfloat16)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", FutureWarning)
            with torch.cuda.amp.autocast():
                self.assertEqual((x @ x).dtype, torch.float16)

    def test_gradient_scaler(self) -> None:
        model = nn.Linear(4, 4).cuda()
        before = model.weight.detach().clone()
        optimizer = torch.optim.AdamW(model.parameters())
        scaler = torch.amp.GradScaler("cuda")
        with torch.autocast("cuda"):
            loss = model(self.square.detach()).float().mean()
        scaler.scale(loss).backward()
        scaler.unscale_(optimizer)
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        scaler.step(optimizer)
        scaler.update()
        self.assertEqual(scaler.get_scale(), 65536.0)
        self.assertFalse(torch.equal(before, model.weight.detach()))

    def test_gradient_scaler_skips_an_infinite_step(self) -> None:
        model = nn.Linear(4, 1).cuda()
        before = model.weight.detach().clone()
        optimizer = torch.optim.SGD(model.parameters(), lr=1.0)
        scaler = torch.amp.GradScaler("cuda")
        scaler.scale(model(torch.full((1, 4), float("inf"), device="cuda")).sum()).backward()
        scaler.step(optimizer)
        scaler.update()
        self.assertEqual(scaler.get_scale(), 32768.0)
        self.assertTrue(torch.equal(before, model.weight.detach()))

    def test_attention(self) -> None:
        shape = (2, 4, 8, 16)
        query = torch.randn(shape, device="cuda", requires_grad=True)
        output = F.scaled_dot_product_attention(query, query, query)
        output.sum().backward()
        host = query.detach().cpu().requires_grad_()
        expected = F.scaled_dot_product_attention(host, host, host)
        expected.sum().backward()
        self.assertTrue(torch.allclose(output.cpu(), expected, atol=1e-5))
        self.assertTrue(torch.allclose(query.grad.cpu(), host.grad, atol=1e-5))
        half = torch.randn(shape, device="cuda", dtype=torch.float16, requires_grad=True)
        F.scaled_dot_product_attention(half, half, half, is_causal=True).sum().backward()
        self.assertEqual(half.grad.device, CUDA_0)
        layer = nn.TransformerEncoderLayer(16, 2, 32, batch_first=True).cuda().eval()
        self.assertEqual(layer(torch.randn(2, 5, 16, device="cuda")).device, CUDA_0)

    def test_results_equal_those_of_the_cpu(self) -> None:
        """Forward, gradients and one step of several kinds of layers, with the same weights and inputs."""
        image = torch.randn(2, 4, 8, 8)
        sequence = torch.randn(5, 3, 4)
        kinds: List[Tuple[str, nn.Module, Tensor]] = [
            ("convolution, batch norm", nn.Sequential(nn.Conv2d(4, 6, 3), nn.BatchNorm2d(6), nn.ReLU(), nn.MaxPool2d(2)), image),
            ("depthwise", nn.Conv2d(4, 4, 3, groups=4), image),
            ("transposed", nn.ConvTranspose2d(4, 2, 2), image),
            ("group norm", nn.GroupNorm(2, 4), image),
            ("layer norm", nn.LayerNorm(8), image),
            ("RMS norm", nn.RMSNorm(8), image),
            ("linear", nn.Sequential(nn.Flatten(), nn.Linear(256, 10), nn.GELU()), image),
            ("LSTM", nn.LSTM(4, 8, num_layers=2, bidirectional=True), sequence),
            ("GRU", nn.GRU(4, 8), sequence),
            ("RNN", nn.RNN(4, 8), sequence),
        ]
        for name, module, value in kinds:
            with self.subTest(name):
                host_module = module.double()
                device_module = copy.deepcopy(host_module).cuda()
                figures = []
                for each, device in ((host_module, CPU), (device_module, CUDA_0)):
                    inputs = value.double().to(device).requires_grad_()
                    output = each(inputs)
                    output = output[0] if isinstance(output, tuple) else output
                    output.square().sum().backward()
                    torch.optim.SGD(each.parameters(), lr=0.1).step()
                    parts = [output, inputs.grad, *(p.grad for p in each.parameters()), *each.parameters()]
                    figures.append([part.detach().cpu() for part in parts])
                for on_host, on_device in zip(*figures):
                    torch.testing.assert_close(on_device, on_host, rtol=1e-9, atol=1e-9)

    def test_recurrent_cells_and_packed_sequences(self) -> None:
        nn.LSTMCell(4, 8).cuda()(torch.randn(2, 4, device="cuda"))[0].sum().backward()
        nn.GRUCell(4, 8).cuda()(torch.randn(2, 4, device="cuda")).sum().backward()
        with warnings.catch_warnings():
            warnings.simplefilter("error")  # no word about an unusable cuDNN
            with torch.autocast("cuda", dtype=torch.float16):
                nn.LSTM(4, 8).cuda()(torch.randn(5, 2, 4, device="cuda"))[0].sum().backward()
        packed = nn.utils.rnn.pack_padded_sequence(torch.randn(5, 3, 4, device="cuda"), torch.tensor([5, 3, 2]))
        output, _ = nn.LSTM(4, 8).cuda()(packed)
        self.assertEqual(output.data.device, CUDA_0)

    def test_optimizers(self) -> None:
        """As on a card: foreach by default, fused on demand, and both compute what the plain loop computes."""
        reference = nn.Linear(4, 4).cuda()
        inputs = self.square.detach()
        weights = []
        for options in ({"foreach": False}, {}, {"fused": True}):
            model = copy.deepcopy(reference)
            optimizer = torch.optim.AdamW(model.parameters(), **options)
            model(inputs).square().sum().backward()
            optimizer.step()
            weights.append(model.weight.detach())
            step = optimizer.state[model.weight]["step"]
            self.assertEqual(step.device, CUDA_0 if "fused" in options else CPU)
        torch.testing.assert_close(weights[1], weights[0])
        torch.testing.assert_close(weights[2], weights[0])

    def test_custom_function(self) -> None:
        class Square(torch.autograd.Function):
            @staticmethod
            def forward(ctx: Any, value: Tensor) -> Tensor:
                ctx.save_for_backward(value)
                return value * value

            @staticmethod
            def backward(ctx: Any, gradient: Tensor) -> Tensor:
                (value,) = ctx.saved_tensors
                return 2 * value * gradient

        Square.apply(self.square).sum().backward()
        self.assertTrue(torch.equal(self.square.grad, 2 * self.square))

    def test_saving_and_loading(self) -> None:
        model = nn.Linear(4, 4).cuda()
        buffer = io.BytesIO()
        torch.save(model.state_dict(), buffer)

        def loaded(**options: Any) -> Tensor:
            buffer.seek(0)
            return torch.load(buffer, **options)["weight"]

        places = ((None, CUDA_0), ("cpu", CPU), ("cuda:1", CUDA_1), ({"cuda:0": "cuda:1"}, CUDA_1))
        for place, device in places:
            with self.subTest(str(place)):
                weight = loaded(map_location=place)
                self.assertEqual(weight.device, device)
                self.assertTrue(torch.equal(weight.cpu(), model.weight.detach().cpu()))
        moved = loaded(map_location=lambda storage, _location: storage.cuda(1))
        self.assertEqual(moved.device, CUDA_1)
        weight = loaded()
        weight.add_(1)  # a loaded tensor is a whole one
        self.assertTrue(torch.equal(weight.cpu(), model.weight.detach().cpu() + 1))
        optimizer = torch.optim.AdamW(model.parameters())
        model(self.square.detach()).sum().backward()
        optimizer.step()
        again = torch.optim.AdamW(model.parameters())
        again.load_state_dict(copy.deepcopy(optimizer.state_dict()))
        self.assertEqual(again.state[model.weight]["exp_avg"].device, CUDA_0)

    def test_copies(self) -> None:
        x = self.square.detach()
        self.cases(
            ("deepcopy", lambda: copy.deepcopy(nn.Linear(3, 3).cuda()).weight.device, CUDA_0),
            ("pickle", lambda: torch.equal(pickle.loads(pickle.dumps(x)), x), True),
            ("storage", lambda: (x.untyped_storage().device, x.untyped_storage().nbytes()), (CUDA_0, 64)),
            ("storage.is_cuda", lambda: (x.untyped_storage().is_cuda, x.cpu().untyped_storage().is_cuda), (True, False)),
            ("storage.clone", lambda: x.untyped_storage().clone().device, CUDA_0),
            ("storage.cpu", lambda: bytes(x.untyped_storage().cpu()) == x.cpu().numpy().tobytes(), True),
            ("storage.cuda", lambda: torch.UntypedStorage(8).cuda(1).device, CUDA_1),
            ("UntypedStorage(device)", lambda: torch.UntypedStorage(8, device="cuda:1").device, CUDA_1),
            ("UntypedStorage(bytes)", lambda: list(torch.UntypedStorage([1, 2], device="cuda")), [1, 2]),
            ("share_memory_", lambda: x.share_memory_().device, CUDA_0),
        )
        with self.assertRaisesRegex(NotImplementedError, "cannot be sent to another process"):
            x.untyped_storage()._share_cuda_()

    def test_data_loader(self) -> None:
        data = TensorDataset(torch.arange(32.0))
        for workers in (0, 2):
            with self.subTest(workers=workers):
                total = torch.zeros((), device="cuda")
                for (batch,) in DataLoader(data, 8, pin_memory=True, num_workers=workers):
                    self.assertTrue(batch.is_pinned())
                    total += batch.to("cuda", non_blocking=True).sum()
                self.assertEqual(total.item(), 496.0)
        self.assertTrue(torch.randn(3).pin_memory().is_pinned())
        self.assertFalse(torch.randn(3).is_pinned())

    def test_threads(self) -> None:
        seen: List[torch.device] = []

        def work() -> None:
            torch.cuda.set_device(1)
            tensor = torch.randn(3, 3, device="cuda", requires_grad=True)
            (tensor @ tensor).sum().backward()
            seen.append(tensor.grad.device)

        thread = threading.Thread(target=work)
        thread.start()
        thread.join()
        self.assertEqual(seen, [CUDA_1])
        self.assertEqual(torch.cuda.current_device(), 0)  # each thread has a device of its own

    def test_streams_and_events(self) -> None:
        stream = torch.cuda.Stream()
        self.assertIsInstance(stream, torch.Stream)
        self.assertEqual(stream.device, CUDA_0)
        self.assertNotEqual(stream, torch.cuda.default_stream())
        self.assertEqual(torch.cuda.current_stream(), torch.cuda.default_stream())
        with torch.cuda.stream(stream):
            self.assertEqual(torch.cuda.current_stream(), stream)
            tensor = torch.ones(2, device="cuda")
        self.assertEqual(torch.cuda.current_stream(), torch.cuda.default_stream())
        with stream:
            self.assertEqual(torch.cuda.current_stream(), stream)
        tensor.record_stream(stream)
        stream.wait_stream(torch.cuda.current_stream())
        start, end = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
        start.record()
        end.record(stream)
        end.synchronize()
        self.assertTrue(end.query() and stream.query())
        self.assertGreaterEqual(start.elapsed_time(end), 0)
        with self.assertRaisesRegex(ValueError, "enable_timing"):
            torch.cuda.Event().elapsed_time(end)
        torch.cuda.synchronize()

    def test_data_parallel(self) -> None:
        seen: List[str] = []

        class Net(nn.Module):
            def __init__(self) -> None:
                super().__init__()
                self.linear = nn.Linear(4, 2)

            def forward(self, value: Tensor) -> Tensor:
                seen.append(str(value.device))
                return self.linear(value)

        net = Net().cuda()
        reference = copy.deepcopy(net)
        inputs = torch.randn(8, 4, device="cuda")
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", UserWarning)  # the two devices differ in size
            nn.DataParallel(net, [0, 1])(inputs).square().sum().backward()
        self.assertEqual(sorted(seen), ["cuda:0", "cuda:1"])
        reference(inputs).square().sum().backward()
        torch.testing.assert_close(net.linear.weight.grad, reference.linear.weight.grad)

    def test_compilers(self) -> None:
        x = self.square.detach()
        expected = (x * 2 + 1).relu()

        def function(value: Tensor) -> Tensor:
            return (value * 2 + 1).relu()

        with warnings.catch_warnings():
            warnings.simplefilter("ignore", DeprecationWarning)
            scripted = torch.jit.script(nn.Sequential(nn.Linear(4, 4), nn.ReLU()).cuda())
        for _ in range(4):  # TorchScript optimises after some runs
            self.assertEqual(scripted(x).device, CUDA_0)
        self.assertTrue(torch.equal(torch.compile(function, backend="aot_eager")(x), expected))
        with contextlib.redirect_stderr(io.StringIO()) as said:
            self.assertTrue(torch.equal(torch.compile(function, mode="reduce-overhead")(x), expected))
            self.assertTrue(torch.equal(torch.compile(function)(x), expected))
        torch._dynamo.reset()
        self.assertLessEqual(said.getvalue().count("eager"), 1)
        self.assertTrue(torch.equal(torch.func.vmap(function)(x), expected))

    def test_other_doors(self) -> None:
        self.cases(
            ("accelerator", lambda: torch.accelerator.current_accelerator(), torch.device("cuda")),
            ("accelerator count", lambda: torch.accelerator.device_count(), 2),
            ("is_built", lambda: torch.backends.cuda.is_built(), True),
            ("cuDNN", lambda: (torch.backends.cudnn.is_available(), torch.backends.cudnn.version()), (False, None)),
            ("capturing", lambda: torch.cuda.is_current_stream_capturing(), False),
            ("arch list", lambda: torch.cuda.get_arch_list(), ["sm_89"]),
            ("peer access", lambda: torch.cuda.can_device_access_peer(0, 1), False),
            ("allocator", lambda: torch.cuda.get_allocator_backend(), "native"),
            ("nvtx", lambda: (torch.cuda.nvtx.range_push("a"), torch.cuda.nvtx.range_pop()), (0, 0)),
            ("sync debug mode", lambda: (torch.cuda.set_sync_debug_mode("warn"), torch.cuda.get_sync_debug_mode())[1], 1),
            ("ipc_collect", lambda: torch.cuda.ipc_collect(), None),
            ("profiler start", lambda: torch.cuda.profiler.start(), None),
            ("cudart", lambda: torch.cuda.cudart().cudaMemGetInfo(1)[1], torch.cuda.mem_get_info(1)[1]),
        )
        torch.cuda.set_sync_debug_mode(0)
        torch.backends.cudnn.benchmark = True
        torch.set_float32_matmul_precision("high")
        self.addCleanup(torch.set_float32_matmul_precision, "highest")
        with self.assertRaisesRegex(NotImplementedError, "CUDA graphs are not simulated"):
            torch.cuda.CUDAGraph()

    def test_every_patched_name_has_a_function_of_its_own(self) -> None:
        """Dynamo refuses two names for one function as soon as an optimizer is compiled."""
        ours = [value for value in vars(torch.cuda).values() if getattr(value, "__module__", "").startswith("vram_lens")]
        functions = [value for value in ours if callable(value)]
        self.assertTrue(functions)
        self.assertEqual(len({id(value) for value in functions}), len(functions))


if __name__ == "__main__":
    unittest.main()
