/** Compares the files that work changed with the files that it was expected to change. */
import { maxListedFiles, type TouchesCheck } from '@muster/contract';
import { isNameResource } from '@muster/contract/globs';
import { StepBudget } from './glob-intersection.ts';
import { maxCompareSteps } from './lock-limits.ts';
import { fileResource, findWitness, parseResource, undefinedIfTooComplex } from './lock-resources.ts';

/** Returns null if there is nothing to compare, or if the comparison is too expensive. */
export function compareWithTouches(
  files: readonly string[],
  touches: readonly string[],
): TouchesCheck | null {
  const declared = touches.filter((text) => !isNameResource(text)).map(parseResource);
  if (files.length === 0 || declared.length === 0) return null;
  const stepBudget = new StepBudget(maxCompareSteps);
  const check = undefinedIfTooComplex(() => {
    const changed = files.map(fileResource);
    const matches = changed.map((file) =>
      declared.filter((resource) => findWitness(resource, file, stepBudget) !== undefined),
    );
    const matched = new Set(matches.flat());
    return {
      outside: files.filter((_, index) => matches[index]?.length === 0).slice(0, maxListedFiles),
      untouched: declared.filter((resource) => !matched.has(resource)).map(({ text }) => text),
    };
  });
  return check ?? null;
}
