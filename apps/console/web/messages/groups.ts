/** English texts about creating and changing delivery groups, loaded with the page. */

export const groupTexts = {
  make: 'New delivery group',
  name: 'Group name',
  stories: 'Stories, in merge order',
  add: 'Add a story',
  addHint: 'Key or title',
  notFound: (text: string) => `No story in this project matches “${text}”`,
  remove: (key: string) => `Remove ${key}`,
  up: (key: string) => `Move ${key} up`,
  strategy: 'Merge strategy',
  strategies: {
    per_story: 'One branch per story',
    integration_branch: 'One shared branch',
    stacked: 'Stacked branches',
  },
  none: 'Add at least one story.',
  save: 'Save',
  edit: 'Edit',
  stateOf: (name: string) => `State of ${name}`,
  land: 'Mark as merged',
  landTitle: (name: string) => `Mark ${name} as merged?`,
  landWhy: 'You can’t undo this. Its stories can then be added to other groups.',
  abandon: 'Abandon',
  abandonTitle: (name: string) => `Abandon ${name}?`,
  abandonWhy: 'You can’t undo this. Its stories are kept and can be added to other groups.',
  changedMeanwhile:
    'Someone else just changed this group. You now see their version; your text is still here.',
};
