import { describe, expect, it } from '@jest/globals';
import { isWarning } from './app-log.ts';

describe('isWarning', () => {
  it.each([
    ['{"level":20,"time":1,"msg":"query"}', 'stdout', false],
    ['{"level":30,"time":1,"msg":"operation"}', 'stdout', false],
    ['{"level":40,"time":1,"msg":"slow"}', 'stdout', true],
    ['{"time":1,"level":50,"msg":"failed"}', 'stdout', true],
    ['rendering pages...', 'stdout', false],
    ['Error: no such file', 'stderr', true],
    ['', 'stderr', false],
  ] as const)('%s on %s: %s', (line, stream, expected) => {
    expect(isWarning(line, stream)).toBe(expected);
  });
});
