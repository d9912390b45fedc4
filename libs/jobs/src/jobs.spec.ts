import { describe, expect, it } from '@jest/globals';
import { queueNames } from './job.ts';
import { jobNames, jobDefinitionOf } from './jobs.ts';

describe.each(jobNames)('the job %s', (name) => {
  const job = jobDefinitionOf(name);

  it('has a name that a queue can keep: words with dots between, no colon', () => {
    expect(name).toMatch(/^[a-z]+[A-Za-z]*(\.[a-z]+)?$/);
  });

  it('says in a sentence what it does, begun with a verb', () => {
    expect(job.summary).toMatch(/^[A-Z][a-z]+ .*[^.]$/);
  });

  it('takes a payload that is an object and takes nothing unknown', () => {
    expect(job.payload.safeParse({ unknown: true }).success).toBe(false);
    expect(job.payload.safeParse('text').success).toBe(false);
  });

  it('ends: attempts and time are bounded', () => {
    expect(job.attempts).toBe(job.trigger === 'schedule' ? 1 : 12);
    expect(job.timeoutSeconds).toBeGreaterThan(0);
    // A forge lists thousands of changed files in many slow pages.
    const maxSeconds = name === 'forge.changes' ? 120 : 30;
    expect(job.timeoutSeconds).toBeLessThanOrEqual(job.trigger === 'schedule' ? 900 : maxSeconds);
  });
});

it('leaves no queue without a job', () => {
  expect([...new Set(jobNames.map((name) => jobDefinitionOf(name).queue))].sort()).toEqual(
    [...queueNames].sort(),
  );
});
