/** English texts of the page Agents, loaded with it. */

export const agentsTexts = {
  loading: 'Loading work in progress',
  empty: 'No work in progress',
  emptyWhy: 'Stories that people or agents are working on appear here.',
  noCheckpoint: 'no checkpoint yet',
  checkpoint: (when: string) => `checkpoint ${when}`,
  stopped: 'Stopped',
  openRun: 'Open run',
  all: 'All projects',
  project: 'Project',
};
