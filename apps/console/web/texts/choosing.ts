/** What the menus of a card and a story say that its keys open, in English: loaded with them. */

export const c = {
  titles: {
    status: (key: string) => `Status of ${key}`,
    assignee: (key: string) => `Who ${key} is assigned to`,
    priority: (key: string) => `Priority of ${key}`,
    reviewer: (key: string) => `Who reviews ${key}`,
  },
  selected: (count: number) => `${count.toLocaleString()} stories`,
  loading: 'Loading…',
  asked: (key: string, name: string) => `${name} is asked to review ${key}`,
  notAsked: (key: string, name: string) => `${name} is asked to review ${key} no longer`,
  failed: (key: string) => `${key} could not be changed`,
};
