/** Tests the readers with events as the agents print them, and the totals of a run. */
import { describe, expect, it } from '@jest/globals';
import { type UsageReport } from '@muster/contract';
import { createAcpUsageReader } from './acp.ts';
import { createOutputUsageReader, modelOfCommand } from './output.ts';
import { RunUsage } from './run-usage.ts';

/** A file that cannot be written, so that a run stores nothing. */
const noFile = '/dev/null/usage.json';

function newRun() {
  const reports: (UsageReport | undefined)[] = [];
  const lease = {
    isOver: () => false,
    renew: (params?: { usage?: unknown }) => {
      reports.push(params?.usage as UsageReport);
      return Promise.resolve({} as never);
    },
  };
  const usage = new RunUsage(lease, noFile);
  /** Reads the output of a process, as one text. */
  const run = (output: string, fallbackModel = 'agent'): void => {
    usage.beginProcess();
    const read = createOutputUsageReader(fallbackModel);
    for (const line of output.split('\n')) usage.add(read(line));
    usage.close();
  };
  return { usage, run, reports };
}

const totalsOf = (output: string, fallbackModel?: string) => {
  const { usage, run } = newRun();
  run(output, fallbackModel);
  return usage.totals();
};

const claudeStart = `{"type":"system","subtype":"init","session_id":"8c1","model":"claude-opus-5","tools":["Bash"]}
{"type":"assistant","message":{"id":"msg_1","model":"claude-opus-5","content":[{"type":"thinking","thinking":"Hm."}],"usage":{"input_tokens":2,"cache_creation_input_tokens":15370,"cache_read_input_tokens":10014,"output_tokens":1}},"parent_tool_use_id":null,"session_id":"8c1"}
{"type":"assistant","message":{"id":"msg_1","model":"claude-opus-5","content":[{"type":"text","text":"Done."}],"usage":{"input_tokens":2,"cache_creation_input_tokens":15370,"cache_read_input_tokens":10014,"output_tokens":7}},"parent_tool_use_id":null,"session_id":"8c1"}`;
const claudeEnd = `{"type":"result","subtype":"success","is_error":false,"num_turns":1,"result":"Done.","session_id":"8c1","total_cost_usd":0.159537,"usage":{"input_tokens":2,"cache_creation_input_tokens":15370,"cache_read_input_tokens":10014,"output_tokens":7},"modelUsage":{"claude-opus-5[1m]":{"inputTokens":2,"outputTokens":7,"cacheReadInputTokens":10014,"cacheCreationInputTokens":15370,"costUSD":0.158892,"contextWindow":1000000},"claude-haiku-4-5":{"inputTokens":520,"outputTokens":25,"cacheReadInputTokens":0,"cacheCreationInputTokens":0,"costUSD":0.000645}}}`;
const opus = {
  ...{ model: 'claude-opus-5', currency: 'USD' },
  ...{ inputTokens: 15_372, outputTokens: 7, cachedTokens: 10_014 },
};

describe('Claude Code', () => {
  it('counts a response once, and takes costs and other models from the result', () => {
    expect(totalsOf(claudeStart)).toEqual([opus]);
    expect(totalsOf(`${claudeStart}\n${claudeEnd}`)).toEqual([
      { ...opus, costMicros: 158_892 },
      {
        ...{ model: 'claude-haiku-4-5', currency: 'USD', costMicros: 645 },
        ...{ inputTokens: 520, outputTokens: 25, cachedTokens: 0 },
      },
    ]);
  });

  it('takes the usage of a result without models for the model of its responses', () => {
    const result = JSON.stringify({ ...JSON.parse(claudeEnd), modelUsage: undefined });
    expect(totalsOf(`${claudeStart}\n${result}`)).toEqual([{ ...opus, costMicros: 159_537 }]);
  });
});

const codexOutput = `{"type":"thread.started","thread_id":"019ef9f3-e493-7a71-a5b2-688716a1281a"}
{"type":"turn.started"}
{"type":"item.completed","item":{"id":"item_1","type":"agent_message","text":"Done."}}
{"type":"turn.completed","usage":{"input_tokens":17232,"cached_input_tokens":12928,"cache_write_input_tokens":0,"output_tokens":6,"reasoning_output_tokens":0}}
{"type":"turn.completed","usage":{"input_tokens":36549,"cached_input_tokens":31000,"output_tokens":1590}}`;

it('takes the newest totals of a thread of Codex, for the model of its command', () => {
  expect(totalsOf(codexOutput, 'gpt-5.4')).toEqual([
    {
      ...{ model: 'gpt-5.4', currency: 'USD' },
      ...{ inputTokens: 5_549, outputTokens: 1_590, cachedTokens: 31_000 },
    },
  ]);
  expect(
    ['-m gpt', '--model gpt', '--model=gpt', '-s x', '--model'].map((words) =>
      modelOfCommand(words.split(' ')),
    ),
  ).toEqual(['gpt', 'gpt', 'gpt', undefined, undefined]);
});

describe('Gemini CLI', () => {
  const stats = { total_tokens: 7_039, input_tokens: 7_003, output_tokens: 2, cached: 6_637, input: 366 };
  const used = { currency: 'USD', inputTokens: 366, outputTokens: 36, cachedTokens: 6_637 };
  const stream = (models?: object) =>
    [
      { type: 'init', session_id: 'ec6', model: 'gemini-2.5-pro' },
      { type: 'message', role: 'assistant', content: 'Done.', delta: true },
      { type: 'result', status: 'success', stats: { ...stats, duration_ms: 7_615, tool_calls: 0, models } },
    ]
      .map((event) => JSON.stringify(event))
      .join('\n');

  it('counts thoughts as output, and cached tokens apart', () => {
    expect(totalsOf(stream())).toEqual([{ model: 'gemini-2.5-pro', ...used }]);
    expect(totalsOf(stream({ 'gemini-3.5-flash': stats }))).toEqual([{ model: 'gemini-3.5-flash', ...used }]);
  });

  it('reads a formatted document', () => {
    const tokens = { prompt: 24_939, candidates: 20, total: 25_113, cached: 21_263, thoughts: 154, tool: 0 };
    const models = { 'gemini-2.5-pro': { api: { totalRequests: 2 }, tokens } };
    const output = JSON.stringify({ session_id: 'ec6', response: 'Done.', stats: { models } }, null, 2);
    expect(totalsOf(`Loaded cached credentials.\n${output}\n`)).toEqual([
      {
        ...{ model: 'gemini-2.5-pro', currency: 'USD' },
        ...{ inputTokens: 3_676, outputTokens: 174, cachedTokens: 21_263 },
      },
    ]);
  });
});

it('ignores malformed lines', () => {
  const lines = [
    ...['{', '{}', '{"type":"turn.completed"', '{"type":"turn.completed"}', 'null', '[1]'],
    '{"type":"turn.completed","usage":{"input_tokens":-1,"output_tokens":"many"}}',
    '{"type":"assistant","message":{"id":"1","model":"","usage":{"input_tokens":1}}}',
    '{"type":"result","usage":{},"total_cost_usd":1e300}',
    '{"type":"result","stats":{"models":{"__proto__":{"input_tokens":1.5}}}}',
  ];
  expect(totalsOf(lines.join('\n'))).toEqual([]);
});

it('adds up the processes of a run, and reports only totals that changed', async () => {
  const { usage, run, reports } = newRun();
  run(codexOutput, 'gpt');
  run(`${claudeStart}\n${claudeEnd}`);
  await usage.flush();
  run(codexOutput, 'gpt');
  await usage.flush();
  await usage.flush();
  expect(reports.map((report) => [report?.model, report?.outputTokens])).toEqual([
    ...[
      ['gpt', 1_590],
      ['claude-opus-5', 7],
      ['claude-haiku-4-5', 25],
    ],
    ['gpt', 3_180],
  ]);
});

it('keeps a limited number of models', () => {
  const lines = Array.from({ length: 200 }, (_, index) => claudeStart.replaceAll('opus-5', `m${index}`));
  expect(totalsOf(lines.join('\n').replaceAll('msg_1', 'm')).length).toBeLessThanOrEqual(50);
});

describe('the Agent Client Protocol', () => {
  const update = (amount: unknown, model?: string) => ({
    ...{ sessionUpdate: 'usage_update', used: 25_391, size: 200_000 },
    ...{ cost: { amount, currency: 'USD' }, ...(model && { _meta: { '_claude/model': model } }) },
  });
  const quota = (token_count: object) => ({
    quota: { token_count: {}, model_usage: [{ model: 'm', token_count }] },
  });

  it('counts the increases of the cost of a session, for the model of the moment', () => {
    const { usage } = newRun();
    const reader = createAcpUsageReader('claude');
    for (const one of [update(0.1, 'opus'), update(0.1), update(0.25, 'haiku'), update('much'), update(-1)])
      usage.add(reader.readUpdate(one));
    // The costs of the session cover the tokens of all of its models.
    usage.add(
      reader.readTurn(
        quota({
          inputTokens: 2,
          cachedInputTokens: 10,
          cachedWriteTokens: 5,
          outputTokens: 7,
          totalTokens: 24,
        }),
      ),
    );
    usage.close();
    expect(usage.totals().map(({ model, costMicros }) => [model, costMicros])).toEqual([
      ['opus', 100_000],
      ['claude', 0],
      ['haiku', 150_000],
      ['m', 0],
    ]);
    // A new process continues the session with its total, or starts at zero.
    for (const [amount, increase] of [
      [0.3, 50_000],
      [0.2, 200_000],
    ] as const) {
      const next = createAcpUsageReader('claude');
      next.continueSession(usage.totals());
      expect(next.readUpdate(update(amount))?.usage[0]?.costMicros).toBe(increase);
    }
  });

  it('adds the tokens of each turn, also in the names of Gemini CLI', () => {
    const { usage } = newRun();
    const reader = createAcpUsageReader('gemini');
    for (const meta of [quota({ input_tokens: 10, output_tokens: 2 }), undefined, {}, { quota: null }])
      usage.add(reader.readTurn(meta));
    usage.add(reader.readTurn(quota({ inputTokens: 1, cacheWriteInputTokens: 1, outputTokens: 1 })));
    usage.close();
    expect(usage.totals()).toEqual([
      { model: 'm', currency: 'USD', inputTokens: 12, outputTokens: 3, cachedTokens: 0 },
    ]);
  });
});
