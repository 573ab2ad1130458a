import {
  ProtocolError,
  ProtocolErrorCode,
  Server,
  type CallToolResult,
  type ListToolsResult,
} from '@modelcontextprotocol/server';
import type { FastifyRequest } from 'fastify';
import { toApiError } from '../../errors/errors.ts';
import { logFailure } from '../http/problem.ts';
import type { Agent } from './agent.ts';
import { callTool } from './call.ts';
import { instructions } from './descriptions.ts';
import { toolErrorOf } from './errors.ts';
import { listTools, type Tool } from './tools.ts';

/** An agent, and the request that it asks in, for the log. */
type Asked = { agent: Agent; log: FastifyRequest };

/** Offers an agent the tools that its scopes allow, in one request. */
export function serverFor(tools: ReadonlyMap<string, Tool>, { agent, log }: Asked): Server {
  const about = { name: 'work-management-service', title: 'Work Management Service', version: '1' };
  const server = new Server(about, { capabilities: { tools: {} }, instructions });
  server.setRequestHandler('tools/list', () => ({
    // They are plain JSON, which the library's type cannot see.
    tools: listTools([...tools.values()], agent.scopes) as unknown as ListToolsResult['tools'],
  }));
  server.setRequestHandler('tools/call', async ({ params }) => {
    const tool = tools.get(params.name);
    if (!tool)
      throw new ProtocolError(ProtocolErrorCode.InvalidParams, `There is no tool ${params.name.slice(0, 100)}.`);
    try {
      return resultOf(await callTool(tool, agent, params.arguments ?? {}));
    } catch (error) {
      const apiError = toApiError(error);
      logFailure(log, apiError);
      return { ...resultOf(toolErrorOf(apiError, agent.request.id)), isError: true };
    }
  });
  return server;
}

const resultOf = (result: object): CallToolResult => ({ content: [{ type: 'text', text: JSON.stringify(result) }] });
