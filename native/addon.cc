// The Node-API face of the probe: `new Probe(path | null)`, `read(withProcesses)`, `close()`. The only file that knows Node.
#include <napi.h>

#include <memory>
#include <mutex>
#include <utility>

#include "nvml/reader.h"

namespace {

using nvml::Field;

/// A reader and what keeps two readings apart: NVML is asked from one thread at a time.
struct Shared {
  explicit Shared(std::vector<std::string> candidates) : reader(std::move(candidates)) {}
  std::mutex mutex;
  nvml::Reader reader;
};

Napi::Object absent(Napi::Env env, nvml::Absence absence) {
  auto object = Napi::Object::New(env);
  object.Set("absent", nvml::name_of(absence));
  return object;
}

Napi::Value to_js(Napi::Env env, const Field<uint64_t>& field) {
  // At most 2^50 (bytes_field), which a double holds exactly.
  if (field.value() != nullptr) return Napi::Number::New(env, static_cast<double>(*field.value()));
  return absent(env, field.absence());
}

Napi::Value to_js(Napi::Env env, const Field<std::string>& field) {
  if (field.value() != nullptr) return Napi::String::New(env, *field.value());
  return absent(env, field.absence());
}

Napi::Value to_js(Napi::Env env, const Field<std::vector<nvml::Process>>& field) {
  if (field.value() == nullptr) return absent(env, field.absence());
  auto list = Napi::Array::New(env, field.value()->size());
  uint32_t at = 0;
  for (const auto& process : *field.value()) {
    auto object = Napi::Object::New(env);
    object.Set("pid", Napi::Number::New(env, process.pid));
    object.Set("usedBytes", to_js(env, process.used));
    list.Set(at++, object);
  }
  return list;
}

Napi::Object to_js(Napi::Env env, const nvml::Reading& reading) {
  auto devices = Napi::Array::New(env, reading.devices.size());
  uint32_t at = 0;
  for (const auto& device : reading.devices) {
    auto object = Napi::Object::New(env);
    object.Set("uuid", to_js(env, device.uuid));
    object.Set("name", to_js(env, device.name));
    object.Set("totalBytes", to_js(env, device.memory.total));
    object.Set("usedBytes", to_js(env, device.memory.used));
    object.Set("freeBytes", to_js(env, device.memory.free));
    object.Set("driverReservedBytes", to_js(env, device.memory.reserved));
    object.Set("processes", to_js(env, device.processes));
    devices.Set(at++, object);
  }
  auto object = Napi::Object::New(env);
  object.Set("code", Napi::Number::New(env, reading.code));
  object.Set("version", to_js(env, reading.version));
  object.Set("devices", devices);
  return object;
}

/// One reading on a worker thread: NVML may block for seconds, and the child must still hear its parent.
class ReadWorker : public Napi::AsyncWorker {
 public:
  ReadWorker(Napi::Env env, std::shared_ptr<Shared> shared, bool with_processes)
      : AsyncWorker(env), shared_(std::move(shared)), with_processes_(with_processes), deferred_(env) {}

  Napi::Promise promise() const { return deferred_.Promise(); }

  void Execute() override {
    const std::lock_guard guard(shared_->mutex);
    reading_ = shared_->reader.read(with_processes_);
  }
  void OnOK() override { deferred_.Resolve(to_js(Env(), reading_)); }
  void OnError(const Napi::Error& error) override { deferred_.Reject(error.Value()); }

 private:
  std::shared_ptr<Shared> shared_;
  bool with_processes_;
  Napi::Promise::Deferred deferred_;
  nvml::Reading reading_{};
};

class Probe : public Napi::ObjectWrap<Probe> {
 public:
  static Napi::Function define(Napi::Env env) {
    return DefineClass(env, "Probe", {InstanceMethod<&Probe::read>("read"), InstanceMethod<&Probe::close>("close")});
  }

  explicit Probe(const Napi::CallbackInfo& info) : ObjectWrap(info) {
    auto candidates = nvml::library_candidates();
    if (info.Length() > 0 && info[0].IsString()) candidates = {info[0].As<Napi::String>().Utf8Value()};
    shared_ = std::make_shared<Shared>(std::move(candidates));
  }

 private:
  Napi::Value read(const Napi::CallbackInfo& info) {
    const bool with_processes = info.Length() > 0 && info[0].ToBoolean();
    auto* worker = new ReadWorker(info.Env(), shared_, with_processes);  // deletes itself when it is done
    worker->Queue();
    return worker->promise();
  }

  void close(const Napi::CallbackInfo&) {
    const std::lock_guard guard(shared_->mutex);
    shared_->reader.close();
  }

  std::shared_ptr<Shared> shared_;
};

Napi::Object initialise(Napi::Env env, Napi::Object exports) {
  exports.Set("Probe", Probe::define(env));
  return exports;
}

}  // namespace

NODE_API_MODULE(gpu_probe, initialise)
