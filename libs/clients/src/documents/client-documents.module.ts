import { type DynamicModule, Module } from '@nestjs/common';
import { OutsideHosts } from '#platform/http/outside-hosts.js';
import { OutsideHttp } from '#platform/http/outside-http.js';
import { ClientDocumentOptions, ClientDocumentsService } from './client-documents.service.js';
import { metadataHosts } from './metadata-hosts.js';

interface ClientDocumentSettings {
  readonly CLIENT_METADATA_HOSTS: string;
  readonly OUTSIDE_FETCH_ALLOW: string;
}

/** Global modules must provide the stores, the scopes and the audit trail. */
@Module({})
export class ClientDocumentsModule {
  static forRoot({ CLIENT_METADATA_HOSTS, OUTSIDE_FETCH_ALLOW }: ClientDocumentSettings): DynamicModule {
    return {
      module: ClientDocumentsModule,
      global: true,
      providers: [
        { provide: OutsideHttp, useValue: new OutsideHttp(new OutsideHosts(OUTSIDE_FETCH_ALLOW)) },
        { provide: ClientDocumentOptions, useValue: { hosts: metadataHosts(CLIENT_METADATA_HOSTS) } },
        ClientDocumentsService,
      ],
      exports: [OutsideHttp, ClientDocumentsService],
    };
  }
}
