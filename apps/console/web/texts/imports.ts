/** What the page of imports says, in English: loaded with it. */
import { type ImportOutcome } from '@muster/registry';
import { type CsvField, type FileFormat } from '@muster/import-files';

const several = (count: number, one: string, more: string): string =>
  `${count.toLocaleString()} ${count === 1 ? one : more}`;

export const i = {
  intro: 'Work from another tracker, with its epics, comments, labels and what waits for what.',
  format: 'Where it comes from',
  formats: {
    ...{ linear: 'Linear', jira: 'Jira', github: 'GitHub', plane: 'Plane', trello: 'Trello' },
    csv: 'A table (CSV)',
  } satisfies Record<FileFormat, string>,
  files: {
    linear: 'The CSV that its settings export, or an answer of its API, which has comments.',
    jira: 'The CSV of a search with all fields, or what /rest/api/2/search answers.',
    github: 'What gh issue list or gh project item-list print as JSON, or what the REST API answers.',
    plane: 'The CSV or JSON that it exports.',
    trello: 'The JSON that it exports of a board.',
    csv: 'Any table with a head, with commas, semicolons or tabs.',
  } satisfies Record<FileFormat, string>,
  file: 'File',
  fileHint: 'It is read in this window. Only what becomes of it is sent.',
  site: 'Address of the site',
  siteHint: 'For links back, such as https://acme.atlassian.net',
  source: 'Name of the source',
  sourceHint: 'Keeps ids of this file apart from those of another',
  reading: 'Reading the file',
  unreadable: 'This file cannot be read',
  gone: 'The file was changed or moved. Choose it again.',
  dates: 'Dates such as 01/02/2024',
  dateOrders: {
    '': 'Say which comes first',
    dmy: 'Day first: 1 February',
    mdy: 'Month first: January 2',
  },
  columns: 'Columns of the file',
  columnsIntro: 'Which column is which field.',
  noColumn: 'None',
  fields: {
    ...{ title: 'Title', description: 'Description', labels: 'Labels', status: 'Status' },
    ...{ priority: 'Priority', estimate: 'Estimate', spec: 'Spec', epic: 'Epic', assignee: 'Assignee' },
    ...{ blockedBy: 'Waits for', id: 'Id', url: 'Link', created: 'Made', updated: 'Changed' },
  } satisfies Record<CsvField, string>,
  found: 'What the file has',
  items: (count: number) => several(count, 'story', 'stories'),
  comments: (count: number) => several(count, 'comment', 'comments'),
  epics: (count: number) => several(count, 'epic', 'epics'),
  statuses: 'Where its statuses go',
  statusThere: 'Status there',
  many: 'Stories',
  statusHere: 'Column here',
  placeOf: (status: string) => `Column for ${status}`,
  choose: 'Choose a column',
  canceled: 'Canceled, off the board',
  unplaced: (count: number) =>
    `${several(count, 'status has', 'statuses have')} no place on the board yet: choose one.`,
  people: 'Who its people are here',
  personThere: 'Person there',
  times: 'Named',
  personHere: 'Member here',
  memberOf: (person: string) => `Member for ${person}`,
  noMember: 'No member',
  peopleWhy: 'Stories and comments of others keep their names as text.',
  noStatuses: 'No story has a status: all go to the backlog.',
  leftOut: (count: number) => `Left out (${count.toLocaleString()})`,
  refusedItems: (count: number) => `${several(count, 'item', 'items')} cannot become stories`,
  inItems: (places: readonly string[], count: number) =>
    count > places.length
      ? `${places.join(', ')} and ${(count - places.length).toLocaleString()} more`
      : places.join(', '),
  more: (count: number) => `and ${count.toLocaleString()} more`,
  theirs: 'The file counts also where a story was changed here',
  again: 'What was brought in before is found again, so that nothing is doubled.',
  run: (count: number) => `Bring in ${several(count, 'story', 'stories')}`,
  other: 'Another file',
  running: (name: string) => `Bringing in ${name}`,
  progress: (done: number, total: number) => `${done.toLocaleString()} of ${total.toLocaleString()}`,
  runningWhy:
    'It goes on while you look at other pages of this window. If the window closes, choose the file again: it goes on from there.',
  stop: 'Stop',
  stopped: 'Stopped. What was brought in stays.',
  failed: 'This stopped half-way. What was brought in stays.',
  goOn: 'Go on',
  done: (name: string) => `${name} is in`,
  continued: 'It went on with an import that was not finished.',
  counts: {
    ...{ created: 'made', updated: 'updated', unchanged: 'there already' },
    ...{ kept: 'kept as changed here', refused: 'refused' },
  } satisfies Record<ImportOutcome, string>,
  toBoard: 'To the board',
  keptWhy: 'Kept as they were changed here',
  notWaiting: 'Do not wait, since what they name is not there',
  list: 'Imports',
  listIntro: 'What was brought in, newest first.',
  empty: 'Nothing was brought in yet',
  states: { open: 'not finished', finished: 'finished', reverted: 'taken back' },
  openWhy: 'choose its file again to go on',
  undo: 'Take back',
  undoTitle: (name: string) => `Take back ${name}?`,
  undoWhy:
    'The stories that it made go, with their comments, and the epics that are empty then. A story that was touched since stays.',
  undone: (removed: number) => `${several(removed, 'story is', 'stories are')} gone`,
  undoneKept: (count: number, keys: string) =>
    `${several(count, 'story', 'stories')} that were touched since stay: ${keys}`,
  archived: 'This project is archived: nothing can be brought in.',
};
