/**
 * What functions, methods and classes of torch do to a graph and to memory. Measured: RULES.md section 0.3. Names that
 * are in no set here keep the graph of their tensors, as nearly all of torch does.
 */

const words = (list: string): ReadonlySet<string> => new Set(list.split(' '));

/** New tensors without a graph, whatever the arguments are. */
export const creators =
  /^torch\.(rand|randn|randint|randperm|rand_like|randn_like|zeros|ones|zeros_like|ones_like|empty|empty_like|full|full_like|eye|arange|linspace|logspace|normal|tril_indices|triu_indices|tensor|as_tensor|from_numpy|frombuffer|bernoulli|multinomial|hann_window)$/;

/** Methods that make a new tensor without a graph. */
export const creatingMethods = words('new_zeros new_ones new_empty new_full new_tensor multinomial bernoulli');

/** Results are integers or booleans, which never carry a graph. */
export const discrete = words(
  'argmax argmin argsort long int bool short byte eq ne lt le gt ge nonzero isnan isinf isfinite any all ' +
    'detach detach_ count_nonzero bincount searchsorted histc one_hot sign_ logical_and logical_or logical_not isclose',
);

/** Of the discrete ones, those whose result is as large as their operand, or is it. */
export const elementwise = words('long int bool short byte eq ne lt le gt ge isnan isinf isfinite detach detach_');

/** Results are Python numbers, lists of them, or NumPy arrays: nothing of the graph is held. */
export const leaving = words('item tolist numpy size dim numel nelement ndimension element_size data_ptr stride');

/** Without arguments the result has no dimensions; with them it is smaller. */
export const reductions = words('sum mean prod norm max min amax amin median std var logsumexp any all mode topk');

/** Same tensor, elsewhere or in another type: dimensions stay. */
export const casts = words(
  'to cpu cuda float double half bfloat16 clone contiguous type abs neg sqrt exp log square requires_grad_ pin_memory',
);

/** Share the memory of their operand. */
export const views = words(
  'view view_as reshape transpose permute squeeze unsqueeze expand expand_as t swapaxes movedim flatten unflatten ' +
    'diagonal real imag unfold detach',
);

/** Share the memory of their operand and show a part of it. */
export const partialViews = words('narrow select unbind split chunk tensor_split diag diagonal');

/** Methods of a module that answer the module. */
export const moduleSelf = words(
  'to cuda cpu train eval half float double bfloat16 requires_grad_ compile apply to_empty',
);

/** Methods of a module whose result is no tensor of the graph. */
export const moduleOther = words(
  'parameters named_parameters buffers modules children named_modules named_children state_dict load_state_dict ' +
    'zero_grad get_parameter register_buffer register_parameter add_module get_submodule',
);

/** Functions of torch.nn.functional whose result is a loss without dimensions. */
export const functionalLoss = /^torch\.nn\.functional\.(\w*_loss|cross_entropy|binary_cross_entropy\w*|kl_div)$/;

/** Classes of torch.nn that compute a loss. */
export const lossClass = /^torch\.nn(\.modules\.loss)?\.\w*Loss$/;
export const moduleClass = /^torch\.nn\.(modules\.\w+\.)?[A-Z]\w*$/;
export const notModules = /^torch\.nn\.(Parameter|ParameterList|Module|ModuleList|ModuleDict|ParameterDict)$/;
/** Constructors of whole models outside torch itself. */
export const modelMaker =
  /^(torchvision\.models\.(\w+\.)?[a-z]\w*|timm\.create_model|segmentation_models_pytorch\.\w+|transformers\.\w+\.from_pretrained|transformers\.Auto\w*\.from_config|torch\.hub\.load|torch\.jit\.load)$/;
export const notModels = /Tokenizer|Processor|Config|FeatureExtractor|Dataset|Scheduler/;
export const wrapperClass =
  /(^|\.)(DistributedDataParallel|DataParallel|FullyShardedDataParallel|DDP|FSDP|AveragedModel|ScriptModule)$|^torch\.(compile|jit\.(script|trace|trace_module|freeze|optimize_for_inference)|nn\.utils\.(\w+\.)?(weight_norm|spectral_norm))$/;

/** Layers without parameters. */
const bareLayer =
  /\.(ReLU6?|LeakyReLU|ELU|SELU|GELU|SiLU|Mish|Sigmoid|Tanh|Softmax|LogSoftmax|Softplus|Hardtanh|Hardswish|Dropout\w*|Identity|Flatten|Unflatten|MaxPool\dd|AvgPool\dd|Adaptive\w+Pool\dd|Upsample|PixelShuffle|ZeroPad2d|ReflectionPad2d)$/;
export const isBare = (name: string): boolean => bareLayer.test(name);

const growing = /\.(ConvTranspose\w+|Upsample|UpsamplingBilinear2d|UpsamplingNearest2d|PixelShuffle)$/;
const convolution = /\.Conv\dd$/;
const shrinking = /\.(Linear|Bilinear|Flatten|\w*Pool\dd|LSTM|GRU|RNN|Transformer\w*|EmbeddingBag)$/;

/**
 * How the output of a layer compares with its input, by its class and the arguments it is made with: a convolution from
 * an image's few channels to many makes more of it, one to few channels or with a stride makes less; scores of every
 * word of a vocabulary are many more than the features that they come from.
 */
export function answersOf(name: string, args: readonly string[]): 'larger' | 'smaller' | 'same' | 'unknown' {
  if (growing.test(name)) return 'larger';
  if (name.endsWith('.Linear') && (/vocab/i.test(args[1] ?? '') || Number(args[1]) >= 8 * Number(args[0])))
    return 'larger';
  if (shrinking.test(name)) return 'smaller';
  if (!convolution.test(name)) return isBare(name) ? 'same' : 'unknown';
  const isFew = (text: string | undefined): boolean => /^[1-4]$/.test(text ?? '');
  const stride = args.find((text) => text.startsWith('stride'))?.replace(/^stride\s*=\s*/, '') ?? args[3] ?? '1';
  if (stride !== '1' && !stride.includes('=')) return 'smaller';
  if (isFew(args[1])) return 'smaller';
  return isFew(args[0]) ? 'larger' : 'same';
}

export const optimizerClass =
  /^(torch\.optim|bitsandbytes\.optim|transformers|torch_optimizer|timm\.optim)\.(\w+\.)?(Adam\w*|SGD|RMSprop|Adagrad|Adadelta|LBFGS|Rprop|NAdam|RAdam|ASGD|SparseAdam|Adafactor|Lion\w*|LAMB|Ranger)$|^torch\.optim\.[A-Z]\w*$/;
export const schedulerClass = /(^|\.)lr_scheduler\.\w+$|^transformers\.get_\w*schedule\w*$/;

/** Functions that put the tensors of a list together. */
export const joining = /^torch\.(cat|concat|concatenate|stack|hstack|vstack|dstack)$/;

/** Attributes of a tensor that are tensors with its graph, also of a model's output object. */
export const tensorAttributes = words(
  'T mT H mH real imag values logits loss last_hidden_state pooler_output hidden_states attentions prediction ' +
    'sample rsample logits_per_image image_embeds text_embeds pred prev_sample x_hat',
);

/** Reads from a file or the network into a dict of tensors. */
export const loads = /^(torch\.load|torch\.hub\.load_state_dict_from_url|safetensors\.torch\.load_file|joblib\.load)$/;

/** A callable of this name computes a loss, whatever it is made of. */
export const lossName = /(^|[._])(criterion|criterions|crit|loss_?(fn|func|function|f)?)$/i;
