/** Loads components when they are first shown, and retries if the network loses a script. */
import { type ComponentType, createElement, lazy, type ReactNode, Suspense } from 'react';

const retryDelaysMs = [300, 1_500, 4_000];

export async function importWithRetry<Module>(load: () => Promise<Module>): Promise<Module> {
  for (const millis of retryDelaysMs) {
    try {
      return await load();
    } catch {
      await new Promise((resolve) => setTimeout(resolve, millis));
    }
  }
  return load();
}

/** Preloads a component. If it fails, it is loaded again when it is shown. */
export const preload = (load: () => Promise<unknown>): void =>
  void importWithRetry(load).catch(() => undefined);

/** Returns a component that loads when it is first shown; until then `whileLoading` is in its place. */
export function lazyComponent<Props extends object>(
  load: () => Promise<{ readonly default: ComponentType<Props> }>,
  whileLoading?: () => ReactNode,
): ComponentType<Props> {
  const Loaded = lazy(() => importWithRetry(load)) as unknown as ComponentType<Props>;
  return (props) => createElement(Suspense, { fallback: whileLoading?.() }, createElement(Loaded, props));
}
