/** English texts of usage, budgets and prices, loaded with their pages. */
import { type AgentRecordGrouping, type Budget, type UsageGrouping } from '@muster/contract';
import { pluralize } from './en.ts';

/** Formats an amount. Amounts below one unit have up to four decimals, because single runs often cost that little. */
export const formatMicros = (micros: number, currency: string): string =>
  (micros / 1_000_000).toLocaleString(undefined, {
    ...{ style: 'currency', currency },
    maximumFractionDigits: Math.abs(micros) < 1_000_000 ? 4 : 2,
  });

export const formatTokens = (tokens: number): string =>
  tokens.toLocaleString(undefined, { notation: 'compact', maximumFractionDigits: 1 });

export const usageTexts = {
  title: 'Usage',
  loading: 'Loading usage',
  filters: 'Filter usage',
  range: 'Time range',
  days: (count: number) => (count === 365 ? 'Last 12 months' : `Last ${count.toLocaleString()} days`),
  groupBy: 'Group by',
  by: (grouping: string) => `By ${grouping.toLowerCase()}`,
  groupings: {
    story: 'Story',
    epic: 'Epic',
    project: 'Project',
    agent: 'Agent',
    member: 'Member',
    model: 'Model',
    day: 'Day',
    week: 'Week',
  } satisfies Record<UsageGrouping, string>,
  project: 'Project',
  allProjects: 'All projects',
  onlyStory: (key: string) => `Remove filter: story ${key}`,
  onlyAgent: (name: string) => `Remove filter: agent ${name}`,
  anAgent: 'One agent',
  budgets: 'Budgets and prices',
  empty: 'No usage in this time',
  emptyWhy: 'Agents report tokens and costs while they work. Choose a longer time range, or start an agent.',
  cost: 'Cost',
  tokensIn: 'Tokens in',
  cached: 'From cache',
  tokensOut: 'Tokens out',
  runs: 'Runs',
  landed: 'Landed',
  landedHint:
    'Landed stories are done and, in projects with a linked repository, merged. Days and weeks are in UTC.',
  costPerLanded: 'Cost per landed story',
  none: '–',
  chart: (currency: string, isByWeek: boolean) => `Cost in ${currency} per ${isByWeek ? 'week' : 'day'}`,
  otherCurrencies: (currency: string) => `The chart shows costs in ${currency} only.`,
  table: (grouping: string) => `Usage by ${grouping.toLowerCase()}`,
  weekOf: (day: string) => `Week of ${day}`,
  more: 'Show more',
  showOf: (name: string) => `Show usage of ${name}`,
  storyCost: (costs: string, runs: number) => `${costs} in ${pluralize(runs, 'run', 'runs')}`,
};

export const outcomeTexts = {
  title: 'Outcomes',
  loading: 'Loading outcomes',
  groupBy: 'Compare',
  groupings: { agent: 'Agents', model: 'Models', prompt: 'Prompts' } satisfies Record<
    AgentRecordGrouping,
    string
  >,
  heads: {
    agent: 'Agent',
    model: 'Model',
    prompt: 'Prompt',
  } satisfies Record<AgentRecordGrouping, string>,
  accepted: 'Accepted first time',
  sentBack: 'Sent back',
  stalled: 'Leases expired',
  landed: 'Landed',
  reverted: 'Reverted',
  ratio: (count: number, total: number) => `${count.toLocaleString()} of ${total.toLocaleString()}`,
  table: (grouping: string) => `Outcomes by ${grouping.toLowerCase()}`,
  empty: 'No agent started work in this time.',
  emptyPrompt: 'No agent started work in this time after a prompt last changed.',
  hint: 'Stories that agents started in this time, each counted once per agent. Based on reviews by others, verified merges, reverts and expired leases. Models and costs are what agents report.',
  hintPrompt: 'Work counts for a prompt if it started after the prompt last changed.',
};

export const budgetTexts = {
  title: 'Budgets',
  intro:
    'A budget limits what agents cost. At 80 % and at 100 % of it, the people in charge are notified. Days and months are in UTC.',
  introProject:
    'Budgets of this project and its stories. At 80 % and at 100 %, the people in charge are notified.',
  set: 'Set budget',
  empty: 'No budgets yet',
  emptyWhy: 'Set one to be notified before agents cost more than you want, or to stop them.',
  emptyForOthers: 'You see the budgets of projects that you lead.',
  scope: 'For',
  scopes: {
    org: 'The organization',
    project: 'A project',
    agent: 'An agent',
    story: 'A story',
  } satisfies Record<Budget['scope'], string>,
  target: { project: 'Project', agent: 'Agent', story: 'Story' },
  choose: 'Choose…',
  storyHint: 'Its key, such as WEB-42',
  amount: 'Amount',
  currency: 'Currency',
  currencyHint: 'A code such as USD or EUR',
  period: 'Period',
  periods: {
    day: 'Each day',
    month: 'Each month',
    total: 'In total',
  } satisfies Record<Budget['period'], string>,
  action: 'At 100 %',
  actions: { notify: 'Notify only', stop: 'Notify and stop agents' } satisfies Record<
    Budget['action'],
    string
  >,
  actionHints: {
    notify: 'Agents continue to work.',
    stop: 'Agents stop within a minute and can’t start new work until you raise or delete the budget, or the next period begins. Members can continue.',
  } satisfies Record<Budget['action'], string>,
  replaces: 'A budget for the same target and period is replaced.',
  saved: 'The budget was set',
  spent: (spent: string, amount: string) => `${spent} of ${amount}`,
  percent: (percent: number) => `${percent.toLocaleString()} % used`,
  atLimit: { notify: 'notifies only', stop: 'stops agents at 100 %' } satisfies Record<
    Budget['action'],
    string
  >,
  states: { ok: '', warning: 'Over 80 %', exceeded: 'Used up' } satisfies Record<Budget['state'], string>,
  stopped: 'Agents are stopped',
  setBy: (name: string) => `set by ${name}`,
  deleteTitle: (name: string) => `Delete the budget for ${name}?`,
  deleteWhy: 'Costs are no longer limited by it. If it stops agents now, they can start again.',
};

export const priceTexts = {
  title: 'Prices of models',
  intro:
    'Prices per million tokens. They apply when an agent reports tokens without a cost. A price of your organization replaces the built-in one.',
  table: 'Prices per million tokens',
  set: 'Set price',
  empty: 'No prices yet',
  emptyWhy: 'Add the price of a model to count the cost of runs that only report tokens.',
  loading: 'Loading the prices',
  model: 'Model',
  modelHint: 'The name of the model, or the beginning of its name',
  input: 'Input',
  output: 'Output',
  cached: 'From cache',
  cachedHint: 'Empty: the price of input',
  validFrom: 'Valid from',
  validFromHint: 'Empty: today, in UTC. Runs that reported before keep their price.',
  source: 'Source',
  sources: { organization: 'Your organization', default: 'Built-in' },
  perMillion: 'per million tokens',
  saved: (model: string) => `The price of ${model} was set`,
};
