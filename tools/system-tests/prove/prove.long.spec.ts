// Runs the short form of the properties that kill or start many processes, and of the controls that take
// seconds to fail.
import { afterAll, describe, expect, it } from '@jest/globals';
import { properties } from './properties.ts';
import { mostMillis, Trial } from './trial.ts';

const trial = new Trial();
afterAll(() => trial.services.stop());

describe.each(properties.filter(({ leftTo }) => leftTo === 'nx long'))('$name', (property) => {
  it('holds', async () => expect(await trial.violationsOf(property)).toEqual([]), mostMillis);
});

const left = properties.flatMap(({ name, leftTo, controls }) =>
  controls
    .filter((control) => (control.leftTo ?? leftTo) === 'nx long')
    .map((control) => ({ property: name, control })),
);

describe.each(left)('$property', ({ control }) => {
  it(
    `fails: ${control.name}`,
    async () => expect(await trial.violationsOf(control)).not.toEqual([]),
    mostMillis,
  );
});
