import { registerHooks } from 'node:module';

/**
 * Loaded into generators before they start: they write code with the compiler's API, which TypeScript 7
 * no longer has, so `typescript` is version 5 to them. What they wrote is compiled by our own.
 */
registerHooks({
  resolve: (specifier, context, next) =>
    next(specifier === 'typescript' ? 'typescript-5' : specifier, context),
});
