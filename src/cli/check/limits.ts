/** In MiB. Generated files are longer than this; nobody reads findings in them. */
export const largestPython = 10;
/** In MiB. Outputs with pictures make notebooks long; their code is measured by the limit above. */
export const largestNotebook = 200;
