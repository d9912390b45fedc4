import { describe, expect, it } from '@jest/globals';
import { isReason, Signal } from '@muster/contract';
import { instructionsSection, skillText } from '@muster/reference/skill';
import { createView } from '../http/narrowing.ts';
import { type CallerIdentity } from '../tools/rights.ts';
import { toolListFor } from './server.ts';

const agent: CallerIdentity = {
  token: { scopes: ['write'], agentId: 'a', projectIds: null, mayReadInbox: true },
  actsFor: { name: 'Chloé', agent: 'Robo', org: 'Acme', role: 'member' },
  ids: null,
};
const coreTools = toolListFor(createView({ mode: 'core' }), agent).tools.map(({ name }) => name);
const signalKinds = Signal.shape.kind.options;

describe('the skill', () => {
  it('names only core tools, signals and refusals that exist', () => {
    const names = `${skillText}${instructionsSection}`.matchAll(/`([a-z]+(?:_[a-zA-Z]+)+)\b/g);
    const isKnown = (name: string): boolean =>
      coreTools.includes(name) || isReason(name) || signalKinds.some((kind) => kind === name);
    expect([...names].flatMap(([, name = '']) => (isKnown(name) ? [] : [name]))).toEqual([]);
  });

  it('says what to do at each signal', () => {
    expect(signalKinds.filter((kind) => !skillText.includes(`\`${kind}\``))).toEqual([]);
  });
});
