/** English texts of the menus that keys open on a card or a story, loaded with them. */

export const chooserTexts = {
  titles: {
    status: (key: string) => `Status of ${key}`,
    assignee: (key: string) => `Assignee of ${key}`,
    priority: (key: string) => `Priority of ${key}`,
    reviewer: (key: string) => `Reviewers of ${key}`,
  },
  selected: (count: number) => `${count.toLocaleString()} stories`,
  loading: 'Loading…',
  asked: (key: string, name: string) => `Requested a review of ${key} from ${name}`,
  notAsked: (key: string, name: string) => `${name} was removed as a reviewer of ${key}`,
  failed: (key: string) => `${key} could not be changed`,
};
