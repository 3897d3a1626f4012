import { Module } from '@nestjs/common';
import { UserInfoController } from './userinfo.controller.js';
import { UserInfoService } from './userinfo.service.js';

@Module({ controllers: [UserInfoController], providers: [UserInfoService] })
export class UserInfoModule {}
