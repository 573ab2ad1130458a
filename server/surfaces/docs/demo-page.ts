import { createBuild } from './build.ts';

const web = 'client-sdk/examples/web';

export const {
  folder: pageFolder,
  isCurrent: isPageCurrent,
  mark: markPage,
  prepare: preparePage,
} = createBuild({
  folder: `${web}/dist`,
  // The page and the client, and the packages that build them.
  source: [
    'client-sdk/src/**',
    ...['package.json', 'index.html', 'vite.ts', 'src/**', 'public/**'].map((one) => `${web}/${one}`),
  ],
  script: `${web}/vite.ts`,
  builder: 'vite',
});
