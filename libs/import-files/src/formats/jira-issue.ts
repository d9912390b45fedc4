/** A Jira issue in a form common to the CSV and the answer of the API. */
export interface JiraIssue {
  readonly location: string;
  /** The key of the issue; undefined for a row without a key. */
  readonly key: string | undefined;
  /** The number by which rows refer to their parents. */
  readonly id: string | undefined;
  readonly isEpic: boolean;
  readonly title: string;
  readonly dueDate: string | undefined;
  /** The description in wiki markup, like the comments. */
  readonly description: string | undefined;
  readonly status: string | undefined;
  /** The category of the status: `To Do`, `In Progress` or `Done`, or the API's word for it. */
  readonly statusCategory: string | undefined;
  readonly resolution: string | undefined;
  readonly priority: string | undefined;
  readonly labels: readonly string[];
  readonly estimate: string | number | undefined;
  readonly assignee: string | undefined;
  readonly createdAt: string | undefined;
  readonly updatedAt: string | undefined;
  readonly url: string | undefined;
  /** Keys or numbers of possible parents, nearest first. */
  readonly parents: readonly string[];
  /** The title of the parent, if the file has it. */
  readonly parentTitle: string | undefined;
  readonly blockedBy: readonly string[];
  readonly blocks: readonly string[];
  readonly comments: readonly {
    readonly id?: string | undefined;
    readonly author: string | undefined;
    readonly email?: string | undefined;
    readonly body: string;
    readonly at: string | undefined;
  }[];
  readonly unimportedFields: readonly string[];
}
