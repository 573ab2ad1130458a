import type { AnyTRPCRouter } from '@trpc/server';
import { generateOpenApiDocument } from 'trpc-to-openapi';
export function createDocument(router: AnyTRPCRouter, publicUrl: string) {
  return generateOpenApiDocument(router as never, {
    title: 'Work Management Service',
    version: '2.0.0',
    baseUrl: publicUrl,
  });
}
