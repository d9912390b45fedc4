/** English texts of the first run, loaded with it. */
import { type StartStep } from '../start/start-state.ts';

interface StepText {
  readonly title: string;
  readonly why: string;
}

export const startTexts = {
  loading: 'Loading the first steps',
  intro: 'Three steps, and your team and its agents share one board. You can skip any step and return to it.',
  steps: {
    project: {
      title: 'Create a project',
      why: 'To bring in stories from Linear, Jira, GitHub or another tracker, create the project first, then import them.',
    },
    agent: {
      title: 'Connect an agent',
      why: 'An agent works under its own name and never has more access than you do.',
    },
    people: {
      title: 'Invite colleagues',
      why: 'They get an e-mail with a link to join.',
    },
  } satisfies Record<StartStep, StepText>,
  done: 'Done',
  skipped: 'Skipped',
  skip: 'Skip for now',
  next: 'Continue',
  openBoard: (name: string) => `Open ${name}`,
  importStories: 'Import stories',
  showAgents: 'Show agents at work',
  showPeople: 'Show members',
  finished: 'You’re all set. Every step is done.',
  hide: 'Hide from navigation',
};
