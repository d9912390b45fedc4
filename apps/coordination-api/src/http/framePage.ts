/** Renders this service's own pages, which are opened by a secret in their URL. */
import { createPageFrame, type PageFrameOptions, type RenderedPage } from '@muster/http';

const pageFrame = createPageFrame();

export const renderFramedPage = (page: PageFrameOptions): RenderedPage =>
  pageFrame({ ...page, isUrlSecret: true });
