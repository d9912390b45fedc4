/** English texts of exports, loaded with their settings. */
export const exportTexts = {
  intro:
    'An archive with JSON files, attached files and a signed manifest. It can be downloaded for 7 days. Anyone with the link can download it.',
  mine: 'Export my data',
  org: 'Export organization',
  project: 'Export project',
  started: 'Export started',
  empty: 'No exports yet',
  emptyMine: 'Export what you wrote, your assignments and your notifications.',
  emptyAll: 'Export everything, to keep a copy or to move to another installation.',
  scopes: { me: 'My data', org: 'Organization', project: 'Project' },
  states: { queued: 'Waiting', running: 'Running', done: 'Ready', failed: 'Failed' },
  percent: (percent: number) => `${percent}%`,
  requested: (name: string, time: string) => `requested by ${name} ${time}`,
  until: (day: string) => `available until ${day}`,
  download: 'Download',
  failures: {
    storage_missing: 'This installation has no storage for files. Ask its operator to configure one.',
    storage_unavailable: 'The storage of files could not be used. Try again later.',
    internal: 'Something went wrong. Try again, or ask the operator of this installation.',
  },
} as const;
