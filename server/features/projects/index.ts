import { router } from '../../kernel/trpc.ts';
import { createProject } from './create-project.ts';
import { deleteProject } from './delete-project.ts';
import { getProject } from './get-project.ts';
import { listProjects } from './list-projects.ts';
import { onCompany } from './on-company.ts';
import { updateProject } from './update-project.ts';

export const projects = router({
  create: createProject,
  list: listProjects,
  get: getProject,
  update: updateProject,
  delete: deleteProject,
  onCompany,
});
