/**
 * What functions and methods of torch do to a graph. Measured: RULES.md section 0.3. Names that are in no set here
 * keep the graph of their tensors, as nearly all of torch does.
 */

/** New tensors without a graph, whatever the arguments are. */
export const creators =
  /^torch\.(rand|randn|randint|randperm|rand_like|randn_like|zeros|ones|zeros_like|ones_like|empty|empty_like|full|full_like|eye|arange|linspace|tensor|as_tensor|from_numpy|load|bernoulli)$/;

/** Results are integers or booleans, which never carry a graph. */
export const discrete = new Set(
  (
    'argmax argmin argsort long int bool short byte eq ne lt le gt ge nonzero isnan isinf isfinite any all ' +
    'detach detach_ count_nonzero bincount'
  ).split(' '),
);

/** Results are Python numbers, lists of them, or NumPy arrays: nothing of the graph is held. */
export const leaving = new Set('item tolist numpy size dim numel nelement ndimension element_size data_ptr'.split(' '));

/** Without arguments the result has no dimensions. */
export const reductions = new Set('sum mean prod norm max min median std var logsumexp'.split(' '));

/** Same tensor, elsewhere or in another type: dimensions stay. */
export const casts = new Set(
  'to cpu cuda float double half bfloat16 clone contiguous type abs neg sqrt exp log square requires_grad_'.split(' '),
);

/** Methods of a module that answer the module. */
export const moduleSelf = new Set(
  'to cuda cpu train eval half float double bfloat16 requires_grad_ compile'.split(' '),
);

/** Functions of torch.nn.functional whose result is a loss without dimensions. */
export const functionalLoss = /^torch\.nn\.functional\.(\w*_loss|cross_entropy|binary_cross_entropy\w*|kl_div)$/;

/** Classes of torch.nn that compute a loss. */
export const lossClass = /^torch\.nn(\.modules\.loss)?\.\w*Loss$/;
export const moduleClass = /^torch\.nn\.(modules\.\w+\.)?[A-Z]\w*$/;
export const notModules = /^torch\.nn\.(Parameter|ParameterList|Module)$/;
export const optimizerClass = /^torch\.optim\.[A-Z]\w*$/;

/** Attributes of a tensor that are tensors with its graph, also of a model's output object. */
export const tensorAttributes = new Set('T mT H mH real imag values logits loss last_hidden_state'.split(' '));
