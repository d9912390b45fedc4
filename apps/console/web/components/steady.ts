import { useCallback, useInsertionEffect, useRef } from 'react';

/** Returns a stable callback that always calls the latest function. Do not call it during render. */
export function useStableCallback<Args extends readonly unknown[], Result>(
  act: (...args: Args) => Result,
): (...args: Args) => Result {
  const latest = useRef(act);
  useInsertionEffect(() => {
    latest.current = act;
  });
  return useCallback((...args: Args) => latest.current(...args), []);
}
