import tseslint from 'typescript-eslint';

/** The arrows of DESIGN section 3: what each folder may import beside itself and `shared`. */
const layers = {
  shared: [],
  webview: ['shared'],
  probe: ['shared'],
  sessions: ['shared'],
  analysis: ['shared'],
  notebooks: ['shared'],
  pythonFiles: ['analysis'],
  server: ['shared', 'analysis', 'notebooks', 'pythonFiles'],
  cli: ['shared', 'probe', 'sessions', 'analysis', 'notebooks', 'pythonFiles'],
  extension: ['shared', 'probe', 'sessions', 'analysis'],
};
const folders = Object.keys(layers);

const layerRules = folders.map((folder) => {
  const forbidden = folders.filter((other) => other !== folder && !layers[folder].includes(other));
  return {
    files: [`src/${folder}/**/*.ts`],
    rules: {
      'no-restricted-imports': [
        'error',
        {
          patterns: [
            ...forbidden.map((other) => ({
              group: [`**/${other}/**`],
              message: `src/${folder} does not import src/${other} (DESIGN section 3)`,
            })),
            ...(folder === 'extension' ? [] : [{ group: ['vscode'], message: 'only src/extension imports vscode' }]),
            ...(['shared', 'webview', 'analysis', 'notebooks'].includes(folder)
              ? [{ group: ['node:*'], message: `src/${folder} runs without Node` }]
              : []),
          ],
        },
      ],
    },
  };
});

export default tseslint.config(
  { ignores: ['dist/', 'build/', 'out/', 'node_modules/'] },
  ...tseslint.configs.recommended,
  {
    rules: {
      '@typescript-eslint/no-explicit-any': 'error',
      '@typescript-eslint/consistent-type-imports': 'error',
      eqeqeq: 'error',
    },
  },
  {
    files: ['src/**/*.ts', 'test/**/*.ts'],
    languageOptions: { parserOptions: { projectService: true } },
    rules: { '@typescript-eslint/no-floating-promises': 'error' },
  },
  ...layerRules,
);
