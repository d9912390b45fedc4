// The pages of the reference, made from the contract when the site is built.
import { referencePages } from '@muster/reference';

const nameOf = ({ path }) => (path === 'reference' ? 'index' : path.slice('reference/'.length));

export default {
  paths: () =>
    referencePages().map((page) => ({
      params: { page: nameOf(page), title: page.title, description: page.summary },
      content: page.markdown,
    })),
};
