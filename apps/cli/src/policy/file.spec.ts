import { describe, expect, it } from '@jest/globals';
import { parsePolicyFile } from './file.ts';

const problemsOf = (text: string): string[] => {
  try {
    parsePolicyFile('policy.yaml', text);
    return [];
  } catch (error) {
    return (error as Error).message.split('\n');
  }
};

describe('parsePolicyFile', () => {
  it('reads what is there, with the defaults of the API', () => {
    const file = parsePolicyFile(
      'policy.yaml',
      `policy: { requiredApprovals: 2 }
budgets:
  - { scope: project, targetId: WEB, amountMicros: 5000000, period: month, action: stop }
webhooks:
  - url: https://siem.acme.example/muster
    kinds: [audit.*, story.*]
projects:
  WEB:
    columns:
      - { name: Doing, status: in_progress, wipLimit: 3 }
`,
    );
    expect(file).toEqual({
      policy: { requiredApprovals: 2 },
      budgets: [
        {
          ...{ scope: 'project', targetId: 'WEB', amountMicros: 5_000_000, currency: 'USD' },
          ...{ period: 'month', action: 'stop' },
        },
      ],
      webhooks: [
        {
          ...{ url: 'https://siem.acme.example/muster', kinds: ['audit.*', 'story.*'] },
          ...{ order: 'parallel', description: '' },
        },
      ],
      projects: { WEB: { columns: [{ name: 'Doing', status: 'in_progress', wipLimit: 3 }] } },
    });
    expect(parsePolicyFile('empty.yaml', '# nothing\n')).toEqual({ projects: {} });
  });

  it('names each unknown field, wrong value and repeated entry with its line', () => {
    expect(
      problemsOf(`policy:
  requiredApprovals: 2
  requiredAprovals: 3
webhooks:
  - url: https://siem.acme.example/muster
    kinds: [task.*]
    secret: whsec_x
projects:
  WEB:
    columns:
      - name: Doing
        status: doing
prompts:
  - { slug: a, title: A, body: a }
  - { slug: a, title: B, body: b }
budget: []
`),
    ).toEqual([
      'policy.yaml:3:3: policy.requiredAprovals is not a known field',
      expect.stringMatching(/^policy\.yaml:14:5: prompts\.1 is listed twice|^policy\.yaml:15:5/),
      'policy.yaml:6:13: webhooks.0.kinds.0 must be an event kind such as story.created, or a pattern such as story.* or audit.*',
      'policy.yaml:7:5: webhooks.0.secret is not a known field',
      expect.stringMatching(/^policy\.yaml:12:9: projects\.WEB\.columns\.0\.status must be one of /),
      'policy.yaml:16:1: budget is not a known field',
    ]);
    expect(problemsOf('policy: [\n')).toEqual([expect.stringMatching(/^policy\.yaml:\d+:\d+: /)]);
    expect(problemsOf('policy: {}\npolicy: {}\n')).toEqual([
      expect.stringMatching(/^policy\.yaml:2:1: .*unique/),
    ]);
  });
});
