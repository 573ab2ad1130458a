import { registerHooks } from 'node:module';

/* For a generator that builds its output with the compiler's API, which TypeScript 7 has not: gives it that of 5.9. */
const compiler = import.meta.resolve('@ts-morph/common');
const url = `data:text/javascript,export { ts as default } from ${JSON.stringify(compiler)};`;

registerHooks({
  resolve: (specifier, context, next) =>
    specifier === 'typescript' ? { url, shortCircuit: true } : next(specifier, context),
});
