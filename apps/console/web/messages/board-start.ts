/** English texts of the first steps on a board without stories, loaded when these steps are shown. */

export const boardStartTexts = {
  title: 'This board is empty',
  why: 'Add the first story, import stories from another tracker, or connect an agent.',
  add: 'Add story',
  bringIn: 'Import stories',
  connect: 'Connect agent',
  invite: 'Invite people',
};
