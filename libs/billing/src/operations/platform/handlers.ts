import { accounts } from './accounts.ts';
import { metrics } from './metrics.ts';
import { orgs } from './orgs.ts';
import { subscriptions } from './subscriptions.ts';
import { teams } from './teams.ts';

export const platform = { accounts, orgs, teams, subscriptions, metrics };
