/** What is loaded when it is first shown. A script that the network lost on its way is asked for again. */
import { type ComponentType, lazy } from 'react';

const pausesMillis = [300, 1_500, 4_000];

export async function fetched<Module>(load: () => Promise<Module>): Promise<Module> {
  for (const millis of pausesMillis) {
    try {
      return await load();
    } catch {
      await new Promise((resolve) => setTimeout(resolve, millis));
    }
  }
  return load();
}

/** Before it is shown, so that it is there then. What is lost on the way is asked for again when it is shown. */
export const fetchEarly = (load: () => Promise<unknown>): void => void fetched(load).catch(() => undefined);

export const lazily = <Props>(load: () => Promise<{ readonly default: ComponentType<Props> }>) =>
  lazy(() => fetched(load));
