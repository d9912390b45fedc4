import { useCallback, useInsertionEffect, useRef } from 'react';

/** A function that stays the same from one drawing to the next and does what the last one drawn says. Not for while it is drawn. */
export function useSteady<Args extends readonly unknown[], Result>(
  act: (...args: Args) => Result,
): (...args: Args) => Result {
  const latest = useRef(act);
  useInsertionEffect(() => {
    latest.current = act;
  });
  return useCallback((...args: Args) => latest.current(...args), []);
}
