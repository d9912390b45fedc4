/** What making and changing a delivery group says, in English: loaded with the page. */

export const g = {
  make: 'Make a delivery group',
  name: 'Name of the group',
  stories: 'Its stories, in the order in which they land',
  add: 'Add a story',
  addHint: 'Key or words',
  notFound: (text: string) => `No story of this project is ${text}`,
  remove: (key: string) => `Take ${key} out`,
  up: (key: string) => `Move ${key} up`,
  strategy: 'They land',
  strategies: {
    per_story: 'each by itself',
    integration_branch: 'together, by one branch',
    stacked: 'each on the one before',
  },
  none: 'A group has one story at least.',
  save: 'Save',
  edit: 'Edit',
  stateOf: (name: string) => `State of ${name}`,
  land: 'It has landed',
  landTitle: (name: string) => `Has ${name} landed?`,
  landWhy: 'This is final: its stories are free for other groups then.',
  abandon: 'Abandon',
  abandonTitle: (name: string) => `Abandon ${name}?`,
  abandonWhy: 'This is final. Its stories stay, and are free for other groups.',
  changedMeanwhile: 'Another changed the group meanwhile. Theirs is shown; what you wrote is still here.',
};
