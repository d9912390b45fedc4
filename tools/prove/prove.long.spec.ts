// Controls that take seconds to be red. `npx nx long tools-prove` tries them.
import { afterAll, describe, expect, it } from '@jest/globals';
import { properties } from './properties.ts';
import { mostMillis, Trial } from './trial.ts';

const trial = new Trial();
afterAll(() => trial.services.stop());

const left = properties.flatMap(({ name, controls }) =>
  controls.filter(({ leftTo }) => leftTo === 'nx long').map((control) => ({ property: name, control })),
);

describe.each(left)('$property', ({ control }) => {
  it(
    `fails: ${control.name}`,
    async () => expect(await trial.violationsOf(control)).not.toEqual([]),
    mostMillis,
  );
});
