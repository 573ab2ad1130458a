/**
 * The credentials in a WebSocket's first message: `{accessToken, refreshToken}` or `{apiKey}`. The names that login answers
 * and headers use are accepted as well.
 */
export function credentialsOf(params: Record<string, string | undefined> | null): {
  bearer: string | undefined;
  refreshToken: string | undefined;
} {
  const given = new Map(
    Object.entries(params ?? {}).map(([name, value]) => [name.toLowerCase().replaceAll(/[-_]/g, ''), value]),
  );
  const authorization = given.get('authorization');
  return {
    bearer: given.get('apikey') ?? given.get('accesstoken') ?? /^Bearer +(\S+)$/i.exec(authorization ?? '')?.[1],
    refreshToken: given.get('refreshtoken') ?? given.get('xrefreshtoken'),
  };
}
